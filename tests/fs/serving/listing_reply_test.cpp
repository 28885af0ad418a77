#include "fs/serving/listing_reply.hpp"

#include <linux/fuse.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <span>

#include "tests/support/catch.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// An entry as the kernel reads it from a reply.
struct Entry {
    std::string name;
    std::uint64_t node_id;  // 0 unless the kernel counts a lookup of it
    off_t next;
};

std::vector<Entry> entries_of(const ListingReply& reply, bool plus) {
    std::vector<Entry> entries;
    for (std::span<const char> rest = reply.bytes(); !rest.empty();) {
        fuse_direntplus entry{};
        const std::size_t before = plus ? FUSE_NAME_OFFSET_DIRENTPLUS - FUSE_NAME_OFFSET : 0;
        REQUIRE(rest.size() >= before + FUSE_NAME_OFFSET);
        if (plus) std::memcpy(&entry.entry_out, rest.data(), sizeof entry.entry_out);
        std::memcpy(&entry.dirent, rest.data() + before, FUSE_NAME_OFFSET);
        entries.push_back({std::string(rest.data() + before + FUSE_NAME_OFFSET, entry.dirent.namelen),
                           entry.entry_out.nodeid, static_cast<off_t>(entry.dirent.off)});
        rest = rest.subspan(before + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.dirent.namelen));
    }
    return entries;
}

/// A mount whose model has `count` tensors PREFIX0, PREFIX1 and so on.
class Mount {
public:
    explicit Mount(int count) : count_(count) { show("old", 0); }
    void show(const std::string& prefix, std::uint64_t serial) {
        std::vector<Sample> samples;
        for (int i = 0; i < count_; ++i) samples.push_back({prefix + std::to_string(i), "U8", {1}, "x"});
        write_file(folder_ / (prefix + ".safetensors"), safetensors_file(samples));
        served.generations.show(
            std::make_shared<Generation>(load(folder_ / (prefix + ".safetensors")), options_, serial));
    }
    /// Lists the root from `offset` on until `replies` are full, or there is no more.
    std::vector<Entry> list(off_t offset, std::size_t size, bool plus, int replies = 1'000'000) {
        std::vector<Entry> all;
        while (replies-- > 0) {
            const std::shared_ptr<Generation> current = served.generations.current();
            ListingReply reply(served, *current, {size, offset, plus});
            REQUIRE(reply.prepare(Inode{}) == 0);
            CHECK(reply.bytes().size() <= size);
            const std::vector<Entry> some = entries_of(reply, plus);
            const auto known = std::count_if(some.begin(), some.end(), [](const Entry& e) { return e.node_id != 0; });
            CHECK(reply.lookups() == static_cast<std::uint64_t>(known));
            if (some.empty()) break;
            offset = some.back().next;
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }

private:
    int count_;
    TemporaryFolder folder_;
    MountOptions options_;

public:
    Served served{options_};
};

std::set<std::string> names(const std::vector<Entry>& entries) {
    std::set<std::string> all;
    for (const Entry& entry : entries) all.insert(entry.name);
    return all;
}

bool is_known(const Entry& entry) { return entry.node_id != 0; }

}  // namespace

TEST_CASE("a listing has each entry once, however small its replies are") {
    Mount mount(300);
    for (const bool plus : {false, true}) {
        for (const std::size_t size : {300U, 4096U, 1U << 20}) {
            const std::vector<Entry> all = mount.list(0, size, plus);
            CHECK(all.size() == 302);
            CHECK(names(all).size() == 302);
            CHECK(names(all).count("old299") == 1);
            CHECK(all[0].name == ".");
            CHECK(all[1].name == "..");
        }
    }
}

TEST_CASE("only READDIRPLUS looks entries up, and not the folder itself or its parent") {
    Mount mount(10);
    const std::vector<Entry> bare = mount.list(0, 4096, false);
    CHECK(std::none_of(bare.begin(), bare.end(), is_known));
    const std::vector<Entry> all = mount.list(0, 4096, true);
    CHECK(std::count_if(all.begin(), all.end(), is_known) == 10);
    CHECK_FALSE(is_known(all[0]));
    CHECK_FALSE(is_known(all[1]));
    CHECK(all[2].node_id == mount.served.generations.current()->node_id({View::raw, 1}));
}

TEST_CASE("a listing of the root that began before a reload goes on in the old model, and looks nothing up") {
    Mount mount(100);
    const std::vector<Entry> begun = mount.list(0, 4096, true, 1);
    REQUIRE(begun.size() < 100);
    mount.served.generations.current()->add_lookups(1);  // so that it is still held
    mount.show("new", 1);
    mount.served.generations.sweep();
    const std::vector<Entry> rest = mount.list(begun.back().next, 4096, true);
    CHECK(begun.size() + rest.size() == 102);
    CHECK(std::none_of(rest.begin(), rest.end(), is_known));
    CHECK(rest.back().name == "old99");
    const std::vector<Entry> anew = mount.list(0, 4096, true);
    CHECK(anew.size() == 102);
    CHECK(names(anew).count("new99") == 1);
}

TEST_CASE("a listing of a model that is gone goes on in the current one") {
    Mount mount(100);
    const std::vector<Entry> begun = mount.list(0, 1024, false, 1);
    REQUIRE(begun.size() < 100);
    mount.show("new", 1);
    mount.served.generations.sweep();
    REQUIRE(mount.served.generations.size() == 1);
    const std::vector<Entry> rest = mount.list(begun.back().next, 4096, false);
    CHECK(begun.size() + rest.size() == 102);
    CHECK(rest.back().name == "new99");
}

TEST_CASE("while the kernel is told to forget the root, listings of it are short") {
    Mount mount(2000);
    CHECK(mount.list(0, 1 << 20, true, 1).size() == 2002);
    mount.served.is_forgetting_root = true;
    const std::vector<Entry> some = mount.list(0, 1 << 20, true, 1);
    CHECK(some.size() > 2);
    CHECK(some.size() < 50);
}

TEST_CASE("a file has no listing, and neither has a node that is none") {
    Mount mount(1);
    ListingReply reply(mount.served, *mount.served.generations.current(), {4096, 0, false});
    CHECK(reply.prepare({View::raw, 1}) == ENOTDIR);
    CHECK(reply.prepare({View::raw, 1000}) == ENOENT);
}
