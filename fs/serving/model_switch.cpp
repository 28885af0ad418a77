#include "fs/serving/model_switch.hpp"

#include <malloc.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "fs/volume/hidden.hpp"

namespace tensorfs {
namespace {

/// Steps 4 to 6. The kernel waits for requests in the root at each name it forgets. Where many read a large root, that
/// takes long, so names that it does not have are left out.
void forget_root(const NegativeNames& negative_names, KernelCache& kernel, const Generation& before,
                 const Generation& next) {
    const std::uint64_t root = NodeId{}.number();
    kernel.forget_root();
    kernel.forget_name(root, Hidden::name);
    std::string storage;
    for (std::uint32_t i = 0; i < before.volume.node(Inode{})->entries; ++i) {
        const Volume::Entry entry = before.volume.entry(Inode{}, i, storage);
        if (kernel.knows(before.node_id(entry.inode))) kernel.forget_name(root, entry.name);
    }
    for (std::uint32_t i = 0; i < next.volume.node(Inode{})->entries; ++i) {
        const Volume::Entry entry = next.volume.entry(Inode{}, i, storage);
        if (negative_names.may_contain(entry.name)) kernel.forget_name(root, entry.name);
    }
    kernel.forget_root();
}

/// Makes the kernel forget all names below the root that it may have of an old generation.
void forget_names(KernelCache& kernel, const Generation& old) {
    std::vector<Inode> folders{Inode{}, {View::hidden, 0}};
    std::string storage;
    while (!folders.empty()) {
        const Inode folder = folders.back();
        folders.pop_back();
        const bool is_root = folder == Inode{};
        if (!is_root && !kernel.knows(old.node_id(folder))) continue;  // then it knows nothing below it
        const std::uint32_t entries = old.volume.node(folder)->entries;
        for (std::uint32_t i = 0; i < entries; ++i) {
            const Volume::Entry entry = old.volume.entry(folder, i, storage);
            if (!is_root) kernel.forget_name(old.node_id(folder), entry.name);
            if (entry.is_folder) folders.push_back(entry.inode);
        }
    }
}

/// Step 3, and its end: also where memory runs out in between.
class ForgettingRoot {
public:
    explicit ForgettingRoot(std::atomic<bool>& flag) : flag_(flag) { flag_.store(true); }
    ~ForgettingRoot() { flag_.store(false); }
    ForgettingRoot(const ForgettingRoot&) = delete;
    ForgettingRoot& operator=(const ForgettingRoot&) = delete;

private:
    std::atomic<bool>& flag_;
};

}  // namespace

std::shared_ptr<const Generation> switch_model(Served& served, KernelCache& kernel, Model model,
                                               const MountOptions& options) {
    const std::shared_ptr<const Generation> before = served.generations.current();
    const std::uint64_t serial = served.generations.free_serial(before->serial() + 1);
    const auto next = std::make_shared<Generation>(std::move(model), options, serial);
    ::malloc_trim(0);  // loading took several times what is kept

    served.generations.show(next);
    {
        const ForgettingRoot short_listings(served.is_forgetting_root);
        forget_root(served.negative_names, kernel, *before, *next);
    }
    served.generations.sweep();
    served.reloads.fetch_add(1);
    return next;
}

void forget_old_models(Served& served, KernelCache& kernel) {
    for (const std::shared_ptr<Generation>& old : served.generations.old()) forget_names(kernel, *old);
    served.generations.sweep();
}

}  // namespace tensorfs
