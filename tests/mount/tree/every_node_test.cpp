// Every node of mounted models, field by field, against a reader of their own.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/reader.hpp"

using namespace tensorfs::tests;

namespace {

using Moment = std::pair<time_t, long>;
using Inodes = std::map<std::string, ino_t>;  // by path

Moment moment(const timespec& time) { return {time.tv_sec, time.tv_nsec}; }

struct stat stat_of(const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) throw std::runtime_error("cannot stat " + path);
    return found;
}

/// What is below a folder.
struct Below {
    std::uint64_t tensors = 0;
    std::uint64_t parameters = 0;
    std::uint64_t nbytes = 0;
    Moment newest{};
};

/// Walks a mount, checks each node, and keeps what it has seen.
class Walk {
public:
    Walk(const StoredModel& model, std::string root)
        : model_(model), tensors_(by_name(model)), root_(std::move(root)) {}

    Below folder(const std::string& path) {
        Below below;
        nlink_t folders = 0;
        for (const Listed& entry : list_folder(path)) {
            const std::string at = path + "/" + entry.name;
            INFO(at);
            CHECK(entry.inode == stat_of(at).st_ino);
            const Below more = entry.is_folder ? folder(at) : file(at);
            folders += entry.is_folder ? 1 : 0;
            below.tensors += more.tensors;
            below.parameters += more.parameters;
            below.nbytes += more.nbytes;
            below.newest = std::max(below.newest, more.newest);
        }
        if (below.tensors == 0) below.newest = moment(stat_of(model_.shards.front()).st_mtim);
        check_folder(path, below, folders);
        return below;
    }

    [[nodiscard]] const std::set<std::string>& names() const { return names_; }
    [[nodiscard]] const Inodes& inodes() const { return inodes_; }

private:
    Below file(const std::string& path) {
        const std::string name = get_xattr(path, "user.tensor.name").value();
        CHECK(names_.insert(name).second);
        const StoredTensor& tensor = tensors_.at(name);
        const Moment modified = moment(stat_of(tensor.shard).st_mtim);

        const struct stat found = stat_of(path);
        CHECK(found.st_mode == (S_IFREG | 0444U));
        CHECK(found.st_nlink == 1);
        CHECK(static_cast<std::uint64_t>(found.st_size) == tensor.nbytes);
        CHECK(static_cast<std::uint64_t>(found.st_blocks) == (tensor.nbytes + 511) / 512);
        CHECK(found.st_blksize == std::clamp<std::int64_t>((found.st_size + 4095) / 4096 * 4096, 4096, 128 << 10));
        check_common(path, found, modified);

        const std::map<std::string, std::string> expected{
            {"user.tensor.dtype", tensor.dtype},
            {"user.tensor.name", tensor.name},
            {"user.tensor.nbytes", std::to_string(tensor.nbytes)},
            {"user.tensor.offset", std::to_string(tensor.offset)},
            {"user.tensor.shape", tensor.shape},
            {"user.tensor.shard", tensor.shard},
        };
        check_xattrs(path, expected);
        CHECK((read_file(path) == stored_bytes(tensor)));
        return {1, tensor.elements, tensor.nbytes, modified};
    }

    void check_folder(const std::string& path, const Below& below, nlink_t folders) {
        const struct stat found = stat_of(path);
        CHECK(found.st_mode == (S_IFDIR | 0555U));
        CHECK(found.st_nlink == 2 + folders);
        CHECK(found.st_size == 0);
        CHECK(found.st_blocks == 0);
        CHECK(found.st_blksize >= 4096);
        CHECK(found.st_blksize <= 128 << 10);
        check_common(path, found, below.newest);

        std::map<std::string, std::string> expected{
            {"user.tensor.count", std::to_string(below.tensors)},
            {"user.tensor.nbytes", std::to_string(below.nbytes)},
            {"user.tensor.parameters", std::to_string(below.parameters)},
        };
        if (path == root_) {
            expected["user.model.format"] = "safetensors";
            expected["user.model.nbytes"] = std::to_string(below.nbytes);
            expected["user.model.parameters"] = std::to_string(below.parameters);
            expected["user.model.shards"] = std::to_string(model_.shards.size());
            expected["user.model.source"] = model_.source;
            expected["user.model.tensors"] = std::to_string(below.tensors);
            for (const auto& [key, value] : model_.metadata) expected["user.model.metadata." + key] = value;
        }
        check_xattrs(path, expected);
    }

    void check_common(const std::string& path, const struct stat& found, const Moment& modified) {
        CHECK(found.st_uid == ::geteuid());
        CHECK(found.st_gid == ::getegid());
        CHECK(moment(found.st_mtim) == modified);
        CHECK(moment(found.st_ctim) == modified);
        CHECK(found.st_dev == stat_of(root_).st_dev);
        CHECK(numbers_.insert(found.st_ino).second);
        inodes_[path.substr(root_.size())] = found.st_ino;
    }

    void check_xattrs(const std::string& path, const std::map<std::string, std::string>& expected) {
        std::vector<std::string> names = list_xattrs(path);
        std::erase(names, "user.tensorfs.stats");  // of the root; it has tests of its own
        std::vector<std::string> expected_names;
        for (const auto& [name, value] : expected) {
            CHECK(get_xattr(path, name) == value);
            expected_names.push_back(name);
        }
        CHECK(names == expected_names);
    }

    const StoredModel& model_;
    std::map<std::string, StoredTensor> tensors_;
    std::string root_;
    std::set<std::string> names_;
    std::set<ino_t> numbers_;
    Inodes inodes_;
};

std::set<std::string> names_of(const StoredModel& model) {
    std::set<std::string> names;
    for (const StoredTensor& tensor : model.tensors) names.insert(tensor.name);
    return names;
}

/// Mounts the model and checks all its nodes, in the tree and in the flat folder.
Inodes check_model(const StoredModel& model) {
    INFO(model.source);
    const Mounted mount(model.source);
    Walk tree(model, mount.path());
    tree.folder(mount.path());
    CHECK(tree.names() == names_of(model));

    Walk flat(model, mount.path());
    flat.folder(mount / ".tensorfs/flat");
    CHECK(flat.names() == names_of(model));

    Inodes inodes = tree.inodes();
    inodes.insert(flat.inodes().begin(), flat.inodes().end());
    std::set<ino_t> numbers;
    for (const auto& [path, number] : inodes) CHECK(numbers.insert(number).second);
    return inodes;
}

std::string as_path(std::string name) {
    std::replace(name.begin(), name.end(), '.', '/');
    return "/" + name;
}

}  // namespace

TEST_CASE("each node of the demo model says and holds what the shards do, and keeps its inode number") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    make_model({"demo"}, folder / "model");
    const StoredModel model = read_model(folder / "model");
    // Each shard has a time of its own, down to the nanosecond.
    timespec modified{1700000000, 123456789};
    for (const std::string& shard : model.shards) {
        const timespec both[2] = {modified, modified};
        REQUIRE(::utimensat(AT_FDCWD, shard.c_str(), both, 0) == 0);
        modified.tv_sec += 1000;
        modified.tv_nsec += 1;
    }

    const Inodes inodes = check_model(model);
    CHECK(inodes.at("") == 1);
    for (const StoredTensor& tensor : model.tensors) {
        CHECK(inodes.contains(as_path(tensor.name)));
        CHECK(inodes.contains("/.tensorfs/flat/" + tensor.name));
    }
    CHECK(check_model(model) == inodes);
}

TEST_CASE("each node of files that other programs wrote says and holds what the files do") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const auto data = test_data("real");
    if (!data) SKIP_TEST("the real files are not there");
    int mounted = 0;
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::canonical(*data / "safetensors"))) {
        if (file.path().stem() == "lfs-pointer") continue;
        const StoredModel model = read_model(file.path());
        const Inodes inodes = check_model(model);
        for (const StoredTensor& tensor : model.tensors) CHECK(inodes.contains(as_path(tensor.name)));
        ++mounted;
    }
    CHECK(mounted == 3);
}

TEST_CASE("each node of each good file of the conformance corpus is what the reference implementation saw") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const auto data = test_data("conformance");
    if (!data) SKIP_TEST("the conformance corpus is not there");
    const auto cases = std::filesystem::canonical(*data / "cases");
    std::ifstream verdicts(*data / "verdicts.jsonl");
    int mounted = 0;
    for (std::string line; std::getline(verdicts, line);) {
        if (line.find(R"("expect": "accept")") == std::string::npos) continue;
        if (line.starts_with(R"({"file": "m1-)")) continue;  // mutations: much of the same
        check_model(read_verdict(line, cases));
        ++mounted;
    }
    CHECK(mounted > 70);
}

TEST_CASE("a git-lfs pointer is refused, and the message says what it is") {
    const auto data = test_data("real");
    if (!data) SKIP_TEST("the real files are not there");
    const MountPoint at;
    const Result result = run({program(), (*data / "safetensors/lfs-pointer.safetensors").string(), at.path()});
    CHECK(result.code == 4);
    CHECK(result.err.find("git-lfs pointer") != std::string::npos);
    CHECK(result.err.find("not downloaded") != std::string::npos);
    CHECK_FALSE(at.is_mounted());
}
