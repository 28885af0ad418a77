#include "fs/daemon/reloader.hpp"

#include <malloc.h>

#include <new>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "fs/daemon/loading.hpp"
#include "fs/daemon/privileges.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/log.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/volume/hidden.hpp"

namespace tensorfs {
namespace {

/// More models than this are not held at once: somebody keeps files of each open.
constexpr std::size_t most_models = 1000;

}  // namespace

Reloader::Reloader(const MountOptions& options, Served& served, Session& session)
    : options_(options), served_(served), session_(session) {}

Reloader::~Reloader() {
    if (thread_.joinable()) thread_.join();
}

void Reloader::start() {
    if (is_under_way()) {
        once_more_ = true;
    } else {
        begin(Task::look_again);
    }
}

void Reloader::tidy() {
    if (!is_under_way()) begin(Task::tidy);
}

bool Reloader::end() {
    if (!finished_.take()) return false;
    thread_.join();
    const bool has_looked = task_ == Task::look_again;
    if (!std::exchange(once_more_, false)) return has_looked;
    start();
    return !is_under_way();
}

void Reloader::begin(Task task) {
    task_ = task;
    try {
        thread_ = std::thread([this, task] { work(task); });
    } catch (...) {                      // no thread, or no memory for one
        if (task == Task::tidy) return;  // the next time, then
        say_why();
        served_.failed_reloads.fetch_add(1);
    }
}

void Reloader::work(Task task) noexcept {
    if (task == Task::look_again) {
        look_again_or_say_why();
    } else {
        tidy_up();
    }
    finished_.notify();
}

void Reloader::tidy_up() noexcept {
    try {
        for (const std::shared_ptr<Generation>& old : served_.generations.old()) forget_names(*old);
    } catch (const std::bad_alloc&) {
        // They are looked at again later.
    }
    served_.generations.sweep();
}

void Reloader::look_again_or_say_why() noexcept {
    try {
        use_reading_privilege();
        look_again();
        served_.last_failure.set({});
    } catch (...) {
        say_why();
        served_.failed_reloads.fetch_add(1);
    }
}

/// Logs the exception that is being handled.
void Reloader::say_why() noexcept {
    try {
        try {
            throw;
        } catch (const Error& e) {
            for (const Problem& problem : e.problems()) spdlog::error("{}", to_string(problem));
            served_.last_failure.set(to_string(e.problems().front()));
        } catch (const std::exception& e) {
            spdlog::error("{}: {}", printable(options_.source), e.what());
            served_.last_failure.set(e.what());
        }
        spdlog::error("{}: not taken up; the mount stays as it was", printable(options_.source));
    } catch (...) {  // no memory for a line of log: the count of failed reloads tells
    }
}

void Reloader::look_again() {
    const std::string& source = options_.source;
    Model model = load_and_map(source, options_,
                               [&](const std::string& note) { spdlog::info("{}: {}", printable(source), note); });
    if (model.is_same_as(served_.generations.current()->volume.model())) {
        spdlog::info("{}: it is as it was", printable(source));
        return;
    }
    if (served_.generations.size() >= most_models) {
        throw Failure(ExitCode::internal, "files of too many models before it are still open");
    }
    show(std::move(model));
}

void Reloader::show(Model model) {
    const std::shared_ptr<const Generation> before = served_.generations.current();
    const std::uint64_t serial = served_.generations.free_serial(before->serial() + 1);
    const auto next = std::make_shared<Generation>(std::move(model), options_, serial);
    ::malloc_trim(0);  // loading took several times what is kept

    served_.generations.show(next);
    served_.is_forgetting_root.store(true);
    forget_root(*before, *next);
    served_.is_forgetting_root.store(false);
    served_.generations.sweep();
    served_.reloads.fetch_add(1);
    const Model& shown = next->volume.model();
    spdlog::info("{}: taken up again: {} in {}", printable(options_.source), counted(shown.tensors().size(), "tensor"),
                 counted(shown.shards().size(), "shard"));
}

/// To forget a name, the kernel waits for lookups and listings that are under way in the root, each time: where
/// many read a large root, that takes long. So what it does not have anyway is left out.
void Reloader::forget_root(const Generation& before, const Generation& next) {
    const std::uint64_t root = NodeId{}.number();
    session_.forget_root();
    session_.forget_name(root, Hidden::name);  // what was answered before has arrived now
    std::string storage;
    for (std::uint32_t i = 0; i < before.volume.node(Inode{})->entries; ++i) {
        const Volume::Entry entry = before.volume.entry(Inode{}, i, storage);
        if (session_.knows(before.node_id(entry.inode))) session_.forget_name(root, entry.name);
    }
    for (std::uint32_t i = 0; i < next.volume.node(Inode{})->entries; ++i) {
        const Volume::Entry entry = next.volume.entry(Inode{}, i, storage);
        if (served_.negative_names.may_contain(entry.name)) session_.forget_name(root, entry.name);
    }
    session_.forget_root();  // also what listings that were under way have left
}

/// With the root's names, the kernel has forgotten all below them that was not in use. What was stays known by its
/// name in its folder, also when it is no longer used.
void Reloader::forget_names(const Generation& old) {
    std::vector<Inode> folders{Inode{}, {View::hidden, 0}};
    std::string storage;
    while (!folders.empty()) {
        const Inode folder = folders.back();
        folders.pop_back();
        const bool is_root = folder == Inode{};
        if (!is_root && !session_.knows(old.node_id(folder))) continue;  // so nothing below it is known
        const std::uint32_t entries = old.volume.node(folder)->entries;
        for (std::uint32_t i = 0; i < entries; ++i) {
            const Volume::Entry entry = old.volume.entry(folder, i, storage);
            if (!is_root) session_.forget_name(old.node_id(folder), entry.name);
            if (entry.is_folder) folders.push_back(entry.inode);
        }
    }
}

}  // namespace tensorfs
