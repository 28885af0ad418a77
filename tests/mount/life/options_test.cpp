// What the options on the command line do to a mount.

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <set>
#include <string_view>

#include "fs/options/mount_option.hpp"
#include "tests/core/formats/pytorch/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

std::string write_model(const std::string& path, const std::vector<std::string>& names = {"a.weight"}) {
    std::vector<Sample> samples;
    for (const std::string& name : names) samples.push_back({name, "U8", {1}, "x"});
    write_file(path, safetensors_file(samples));
    return path;
}

struct stat stat_of(const std::string& path) {
    struct stat found {};
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    return found;
}

bool has(const std::string& options, const std::string& wanted) {
    return ("," + options + ",").find("," + wanted + ",") != std::string::npos;
}

}  // namespace

TEST_CASE("options may stand before, between and behind source and mount point, and the verb may be said") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string source = write_model(folder / "model.safetensors");
    const Adopter adopter;
    const MountPoint at;
    const std::string& to = at.path();
    const std::vector<std::vector<std::string>> lines{
        {program(), "-o", "uid=7,gid=8", source, to},          {program(), source, "-o", "uid=7,gid=8", to},
        {program(), source, to, "-o", "uid=7,gid=8"},          {program(), source, to, "-ouid=7,gid=8"},
        {program(), "-o", "uid=7", source, to, "-o", "gid=8"}, {program(), "mount", source, to, "-o", "uid=7,gid=8"},
        {program(), "mount", "-o", "uid=7,gid=8", source, to}, {program(), source, to, "-o", "rw,uid=7,noatime,gid=8"},
    };
    for (const std::vector<std::string>& line : lines) {
        std::string text;
        for (const std::string& word : line) text += " " + word;
        INFO(text);
        const Result result = run(line);
        CHECK(result.err.empty());
        REQUIRE(result.code == 0);
        CHECK(stat_of(at / "a/weight").st_uid == 7);
        CHECK(stat_of(at / "a/weight").st_gid == 8);
        CHECK(unmount(to));
    }
}

TEST_CASE("each option that the manual has can be mounted with") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("allow_other and allow_root are for root, or need a line in /etc/fuse.conf");
    const TemporaryFolder folder;
    const std::string file = write_model(folder / "file/model.safetensors");
    const std::string indexed = folder / "indexed";
    write_model(indexed + "/part.safetensors");
    write_file(indexed + "/model.safetensors.index.json", index_file({{"a.weight", "part.safetensors"}}));
    const std::string variant = folder / "variant";
    write_model(variant + "/model.fp16.safetensors");

    const std::string hub = folder / "models--org--name";
    write_file(hub + "/refs/v1", "aaaa");
    write_model(hub + "/snapshots/aaaa/model.safetensors");
    const std::string nested = folder / "nested.pt";
    PickleWriter pickle;
    write_tensor(pickle.dict().text("state_dict").dict().text("a.weight")).raw("ss");
    write_file(nested, archive(pickle.stop()));

    // What follows "=", and what is mounted if it is not `file`. An option without a line here fails the test.
    struct Use {
        std::string value = {};
        std::string source = {};
    };
    const std::map<std::string_view, Use> uses{
        {"index", {"model.safetensors.index.json", indexed}},
        {"variant", {"fp16", variant}},
        {"revision", {"v1", hub}},
        {"key", {"state_dict", nested}},
        {"partial", {}},
        {"separators", {"."}},
        {"uid", {"7"}},
        {"gid", {"8"}},
        {"umask", {"027"}},
        {"cache", {"once"}},
        {"order", {"kept"}},
        {"threads", {"2"}},
        {"idle", {"600"}},
        {"log", {"warning"}},
        {"allow_other", {}},
        {"allow_root", {}},
        {"auto_unmount", {}},
        {"max_read", {"131072"}},
        {"baseline", {}},
        {"fsname", {"name"}},
    };
    // Labels, which only a kernel with SELinux takes.
    const std::set<std::string_view> labels{"context", "fscontext", "defcontext", "rootcontext"};
    const Adopter adopter;
    for (const tensorfs::MountOption& option : tensorfs::mount_options()) {
        INFO(option.name);
        if (labels.count(option.name) != 0) continue;
        const auto use = uses.find(option.name);
        REQUIRE(use != uses.end());
        const std::string text = std::string(option.name) + (option.value.name.empty() ? "" : "=" + use->second.value);
        const MountPoint at;
        const Result result =
            run({program(), use->second.source.empty() ? file : use->second.source, at.path(), "-o", text});
        CHECK(result.err.empty());
        REQUIRE(result.code == 0);
        CHECK(S_ISREG(stat_of(at / "a/weight").st_mode));
        CHECK(unmount(at.path()));
    }
}

TEST_CASE("uid, gid and umask apply to every node") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("only root can look into what is another user's");
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder / "model.safetensors"), {"-o", "uid=1234,gid=4294967294,umask=0027"});
    for (const std::string name : {"", "a", ".tensorfs", ".tensorfs/flat"}) {
        INFO(name);
        const struct stat found = stat_of(mount / name);
        CHECK(found.st_mode == (S_IFDIR | 0550));
        CHECK(found.st_uid == 1234);
        CHECK(found.st_gid == 4294967294);
    }
    for (const std::string name : {"a/weight", ".tensorfs/tensors.json", ".tensorfs/flat/a.weight"}) {
        INFO(name);
        const struct stat found = stat_of(mount / name);
        CHECK(found.st_mode == (S_IFREG | 0440));
        CHECK(found.st_uid == 1234);
        CHECK(found.st_gid == 4294967294);
    }
}

TEST_CASE("with -o separators= all tensors stand in one flat folder") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder / "model.safetensors", {"a.b.c", "a.b", "x/y"}), {"-o", "separators="});
    CHECK(names_in(mount.path()) == std::vector<std::string>{"a.b", "a.b.c", "x%2Fy"});
    CHECK(get_xattr(mount / "x%2Fy", "user.tensor.name") == "x/y");
    CHECK(stat_of(mount.path()).st_nlink == 2);
}

TEST_CASE("with -o separators=_ names are cut at underscores only") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder / "model.safetensors", {"self_attn.q_proj", "b.c"}), {"-o", "separators=_"});
    CHECK(names_in(mount.path()) == std::vector<std::string>{"b.c", "self"});
    CHECK(get_xattr(mount / "self/attn.q/proj", "user.tensor.name") == "self_attn.q_proj");
}

TEST_CASE("the system shows a mount as fuse.tensorfs, its source as it is, and that it is harmless") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    for (const std::string name : {"model.safetensors", "a, b", "back\\slash,=", "größe"}) {
        INFO(name);
        const std::string source = std::filesystem::canonical(folder.path()) / name;
        write_model(source + "/model.safetensors");
        const Mounted mount(source);
        const MountEntry entry = find_mount(mount.path()).value();
        CHECK(entry.type == "fuse.tensorfs");
        CHECK(entry.source == source);
        for (const std::string option : {"ro", "nosuid", "nodev", "noexec"}) CHECK(has(entry.options, option));
        CHECK(has(entry.super_options, "default_permissions"));
        CHECK(run({"findmnt", "-n", "-o", "FSTYPE", mount.path()}).out == "fuse.tensorfs\n");
    }
}

TEST_CASE("the option fsname= says what the system shows as the source") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder / "model.safetensors"), {"-o", "fsname=my\\,model"});
    CHECK(find_mount(mount.path())->source == "my,model");
}

TEST_CASE("the system shows the folder of the Hub's cache that was given, and not its snapshot") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder cache;
    const std::string repository = std::filesystem::canonical(cache.path()).string() + "/models--org--name";
    write_file(repository + "/refs/main", "aaaa");
    write_model(repository + "/snapshots/aaaa/model.safetensors");
    const Mounted mount(repository);  // what `mount -a` compares with fstab, so as not to mount it again
    CHECK(find_mount(mount.path())->source == repository);
    CHECK(get_xattr(mount.path(), "user.model.source") == repository + "/snapshots/aaaa");
}

TEST_CASE("mount mounts, through mount.fuse and with what they add to the options") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0 || !std::filesystem::exists("/sbin/mount.fuse"))
        SKIP_TEST("only root can, and only with mount.fuse");
    const TemporaryFolder folder;
    const std::string source = write_model(folder / "model.safetensors");
    const Adopter adopter;
    const MountPoint at;
    // The program's path stands there since it need not be installed.
    const std::string what = program() + "#" + source;
    const Result result = run({"mount", "-t", "fuse", what, at.path(), "-o", "noatime,uid=7,nofail,x-test=1"});
    CHECK(result.err.empty());
    CHECK(result.code == 0);
    CHECK(stat_of(at / "a/weight").st_uid == 7);
    CHECK(find_mount(at.path())->type == "fuse.tensorfs");
    CHECK(run({"umount", at.path()}).code == 0);
    REQUIRE(Adopter::children().size() == 1);
    CHECK(Adopter::wait(Adopter::children().front()) == 0);
}
