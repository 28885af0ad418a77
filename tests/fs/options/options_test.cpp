#include "fs/options/option_list.hpp"

#include <set>

#include "fs/options/mount_option.hpp"
#include "fs/terminal/failure.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

MountOptions apply(std::string_view list) {
    MountOptions options;
    apply_option_list(options, list);
    return options;
}

/// What is said about a list that is refused, which it must be as wrong usage; "" if it is not refused.
std::string refusal(std::string_view list) {
    try {
        apply(list);
    } catch (const Failure& e) {
        CHECK(e.code() == ExitCode::usage);
        return e.what();
    }
    return {};
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("without options there are the defaults") {
    const MountOptions options;
    CHECK_FALSE(options.foreground);
    CHECK_FALSE(options.debug);
    CHECK(options.separators == "./");
    CHECK(options.threads == 64);
    CHECK(options.owner.umask == 0);
    CHECK(options.fuse.empty());
}

TEST_CASE("each option of ours does what it says") {
    CHECK(apply("separators=_").separators == "_");
    CHECK(apply("separators=").separators.empty());
    CHECK(apply("uid=1000").owner.uid == 1000);
    CHECK(apply("uid=0").owner.uid == 0);
    CHECK(apply("gid=4294967294").owner.gid == 4294967294U);
    CHECK(apply("umask=0077").owner.umask == 077);
    CHECK(apply("umask=777").owner.umask == 0777);
    CHECK(apply("threads=7").threads == 7);
    CHECK(refusal("threads=0") == "-o threads=: \"0\" is not a number of 1 to 4096");
}

TEST_CASE("options about the source say which model is meant and what to do if it is damaged") {
    const LoadOptions load = apply("index=a.index.json,variant=fp16,revision=v1,key=model.ema,partial").load;
    CHECK(load.source.choice.index == "a.index.json");
    CHECK(load.source.choice.variant == "fp16");
    CHECK(load.source.revision == "v1");
    CHECK(load.source.key == "model.ema");
    CHECK(load.on_problem == OnProblem::leave_out);
    CHECK(MountOptions().load.on_problem == OnProblem::refuse);
}

TEST_CASE("a verb that does not mount takes options about the source, and no others") {
    LoadOptions load;
    apply_option_list(load, "variant=fp16");
    apply_option_list(load, "revision=v1,partial");
    CHECK(load.source.choice.variant == "fp16");
    CHECK(load.source.revision == "v1");
    CHECK(load.on_problem == OnProblem::leave_out);
    for (const char* option : {"uid=1", "separators=.", "allow_other", "ro", "bogus", "variant", "key", "partial=1"}) {
        INFO(option);
        CHECK_THROWS_AS(apply_option_list(load, option), Failure);
    }
}

TEST_CASE("options come in lists, and a later one counts") {
    const MountOptions options = apply("uid=1,gid=2,,uid=3,allow_other,");
    CHECK(options.owner.uid == 3);
    CHECK(options.owner.gid == 2);
    CHECK(options.fuse == Texts{"allow_other"});
    CHECK(refusal("").empty());
    CHECK(refusal(",").empty());
}

TEST_CASE("a comma or backslash in a value has a backslash before it") {
    CHECK(apply("separators=\\,.").separators == ",.");
    CHECK(apply("separators=\\\\").separators == "\\");
    CHECK(apply("separators=a\\,b,uid=5").owner.uid == 5);
    CHECK(apply("separators=.=").separators == ".=");
}

TEST_CASE("what is libfuse's is passed on") {
    CHECK(apply("allow_other").fuse == Texts{"allow_other"});
    CHECK(apply("allow_root,auto_unmount").fuse == Texts{"allow_root", "auto_unmount"});
    CHECK(apply("max_read=65536,fsname=a b").fuse == Texts{"max_read=65536", "fsname=a b"});
    CHECK(apply("max_read=65536").max_read == 65536);
    for (const char* bad : {"max_read=x", "max_read=4095", "max_read=1048577"}) CHECK_FALSE(refusal(bad).empty());
}

TEST_CASE("labels of SELinux are passed on, with commas in them if they are quoted") {
    CHECK(apply("context=system_u:object_r:x:s0").fuse == Texts{"context=system_u:object_r:x:s0"});
    CHECK(apply("ro,context=\"u:r:x:s0:c1,c2\",uid=7").fuse == Texts{"context=\"u:r:x:s0:c1,c2\""});
    CHECK(apply("ro,context=\"u:r:x:s0:c1,c2\",uid=7").owner.uid == 7);
    CHECK(apply("context=u:r:x:s0:c1\\,c2").fuse == Texts{"context=\"u:r:x:s0:c1,c2\""});
    CHECK(apply("fscontext=\"a\",defcontext=b,rootcontext=c").fuse ==
          Texts{"fscontext=a", "defcontext=b", "rootcontext=c"});
    CHECK(apply("fsname=\"a,uid=7").owner.uid == 7);  // a quote is a character elsewhere
    for (const char* list :
         {"context", "context=", "context=\"", "context=\"\"", "context=\"a,uid=7", "context=a\"b"}) {
        INFO(list);
        CHECK(contains(refusal(list), "context"));
    }
}

TEST_CASE("what mount and fstab add for their own use is accepted and does nothing") {
    for (const char* option : {"defaults",
                               "ro",
                               "nosuid",
                               "nodev",
                               "noexec",
                               "noatime",
                               "relatime",
                               "nofail",
                               "_netdev",
                               "user",
                               "users",
                               "noauto",
                               "x-systemd.automount",
                               "x-systemd.idle-timeout=60",
                               "X-mount.mkdir",
                               "comment=x",
                               "owner",
                               "group",
                               "default_permissions",
                               "nonempty",
                               "subtype=tensorfs",
                               "rw",
                               "exec",
                               "suid",
                               "dev",
                               "sync",
                               "auto"}) {
        INFO(option);
        CHECK(refusal(option).empty());
        CHECK(apply(option).fuse.empty());
    }
}

TEST_CASE("an unknown option is refused by its name") {
    for (const char* option : {"bogus", "UID=1", "uid =1", " uid=1", "separator=.", "allow-other", "y-x", "=", "=1"}) {
        INFO(option);
        CHECK(contains(refusal(option), option));
    }
    CHECK_FALSE(contains(refusal("\x1B[31m"), "\x1B"));
}

TEST_CASE("a bad value is refused by the option's name") {
    for (const char* option : {"uid=",
                               "uid=x",
                               "uid=-1",
                               "uid=1x",
                               "uid= 1",
                               "uid=+1",
                               "uid=4294967295",
                               "uid=4294967296",
                               "uid=0x10",
                               "gid=",
                               "gid=99999999999999999999",
                               "umask=8",
                               "umask=1000",
                               "umask=-1",
                               "umask=",
                               "threads=",
                               "threads=x",
                               "threads=-1",
                               "threads=4294967296",
                               "threads=1e3"}) {
        INFO(option);
        const std::string name(option, std::string_view(option).find('='));
        CHECK(contains(refusal(option), name));
    }
    CHECK_FALSE(contains(refusal("uid=\x1B[31m"), "\x1B"));
}

TEST_CASE("an option that needs a value has one, and one that takes none has none") {
    for (const char* option : {"uid", "gid", "umask", "threads", "separators", "max_read", "fsname", "index",
                               "partial=yes", "allow_other=", "allow_other=1", "auto_unmount=yes"}) {
        INFO(option);
        CHECK_FALSE(refusal(option).empty());
    }
}

TEST_CASE("each option is in the table once, with a line of help and a text for the manual") {
    std::set<std::string_view> names;
    for (const MountOption& option : mount_options()) {
        INFO(option.name);
        CHECK(names.insert(option.name).second);
        CHECK_FALSE(option.help.empty());
        CHECK_FALSE(contains(option.help, "\n"));
        CHECK_FALSE(option.manual.empty());
        CHECK_FALSE(option.manual.ends_with('\n'));
    }
    for (const char* name : {"separators", "uid", "gid", "umask", "allow_other"}) CHECK(names.contains(name));
}

TEST_CASE("what stays cached is chosen by one of three words") {
    CHECK(MountOptions().cache == Cache::keep);
    CHECK(apply("cache=keep").cache == Cache::keep);
    CHECK(apply("cache=once").cache == Cache::once);
    CHECK(apply("cache=direct").cache == Cache::direct);
    CHECK_THROWS_WITH(apply("cache=none"), "-o cache=: \"none\" is not one of keep, once and direct");
    CHECK_THROWS_AS(apply("cache"), Failure);
    CHECK_THROWS_AS(apply("cache="), Failure);
}
