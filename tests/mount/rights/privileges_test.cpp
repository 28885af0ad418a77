// What the daemon may do once it is mounted, and whom it lets in.

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/ordinary_user.hpp"

using namespace tensorfs::tests;

namespace {

/// Two shards with an index, a tokenizer and a README: a model as it is downloaded.
class Model {
public:
    Model() {
        write_file(folder_ / "one.safetensors", safetensors_file({{"one", "U8", {3}, "one"}}));
        write_file(folder_ / "two.safetensors", safetensors_file({{"two", "U8", {3}, "two"}}));
        write_file(folder_ / "model.safetensors.index.json",
                   index_file({{"one", "one.safetensors"}, {"two", "two.safetensors"}}));
        write_file(folder_ / "tokenizer.json", "{}");
        write_file(folder_ / "README.md", "# Model");
    }
    [[nodiscard]] std::string path() const { return std::filesystem::canonical(folder_.path()).string(); }

private:
    TemporaryFolder folder_;
};

std::string process_folder(Mounted& mount) { return "/proc/" + std::to_string(mount.daemon().pid()); }

/// A line's value of a process's or thread's status.
std::string status_of(const std::string& process, const std::string& key) {
    std::ifstream lines(process + "/status");
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(key + ":\t")) return line.substr(key.size() + 2);
    }
    return "(no such line)";
}

/// Whether the file was opened for anything but reading.
bool is_writable(const std::string& process, const std::string& fd) {
    std::ifstream lines(process + "/fdinfo/" + fd);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("flags:")) return (std::stoul(line.substr(6), nullptr, 8) & O_ACCMODE) != O_RDONLY;
    }
    return true;
}

/// Whether this process has that open, too, so that the daemon may have inherited it.
bool has_open(const std::string& target) {
    const std::vector<std::string> fds = names_in("/proc/self/fd");
    return std::any_of(fds.begin(), fds.end(), [&](const std::string& fd) {
        std::error_code gone;  // the listing's own descriptor
        return std::filesystem::read_symlink("/proc/self/fd/" + fd, gone).string() == target;
    });
}

/// Reads `one` as the user nobody; its exit code.
int read_as_nobody(const Mounted& mount) {
    return run({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "cat", mount / "one"}).code;
}

bool system_allows_other() {
    std::ifstream lines("/etc/fuse.conf");
    for (std::string line; std::getline(lines, line);) {
        if (line == "user_allow_other") return true;
    }
    return false;
}

}  // namespace

TEST_CASE(
    "mounted by root, no thread of the daemon that answers has any right, and the main one can unmount and read "
    "again") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const Model model;
    Mounted mount(model.path());
    CHECK(read_file(mount / "one") == "one");
    const auto as_hex = [](std::uint64_t capabilities) {
        std::ostringstream text;
        text << std::hex << std::setw(16) << std::setfill('0') << capabilities;
        return text.str();
    };
    const std::string none = as_hex(0);
    const std::string only_sys_admin = as_hex(1ULL << CAP_SYS_ADMIN);
    const std::string and_reading = as_hex(1ULL << CAP_SYS_ADMIN | 1ULL << CAP_DAC_READ_SEARCH);
    const std::string main_thread = std::to_string(mount.daemon().pid());  // it starts what loads a model again
    const std::string tasks = process_folder(mount) + "/task";
    const std::vector<std::string> threads = names_in(tasks);
    CHECK(threads.size() >= 2);
    for (const std::string& thread : threads) {
        INFO("thread " << thread << " of " << mount.daemon().pid());
        const std::string task = tasks + "/" + thread;
        CHECK(status_of(task, "CapEff") == (thread == main_thread ? only_sys_admin : none));
        CHECK(status_of(task, "CapPrm") == (thread == main_thread ? and_reading : none));
        CHECK(status_of(task, "CapInh") == none);
        CHECK(status_of(task, "CapAmb") == none);
        CHECK(status_of(task, "NoNewPrivs") == "1");
    }
}

TEST_CASE("root's mount below a folder that only another user may pass is unmounted: by a signal, and unused") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const TemporaryFolder folder;
    write_file(folder / "model.safetensors", safetensors_file({{"a", "U8", {1}, "x"}}));
    const MountPoint above;
    const std::string at = above / "mine/mount";
    std::filesystem::create_directories(at);
    REQUIRE(::chown((above / "mine").c_str(), 65534, 65534) == 0);
    REQUIRE(::chmod((above / "mine").c_str(), 0700) == 0);
    for (const bool is_idle : {false, true}) {
        Child daemon(
            {program(), "-f", "-o", is_idle ? "log=warning,idle=1" : "log=warning", folder / "model.safetensors", at});
        REQUIRE(eventually([&] { return std::filesystem::exists(at + "/a"); }));
        if (!is_idle) daemon.signal(SIGTERM);
        CHECK(eventually([&] { return daemon.ended(); }));
        CHECK_FALSE(tensorfs::tests::find_mount(at).has_value());
        clear_mounts(at);
    }
}

TEST_CASE("the daemon holds the shards open, for reading only, and nothing else of the source") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Model model;
    Mounted mount(model.path());
    CHECK(read_file(mount / "two") == "two");
    const std::string process = process_folder(mount);
    std::vector<std::string> of_the_source;
    for (const std::string& fd : names_in(process + "/fd")) {
        const std::string target = std::filesystem::read_symlink(process + "/fd/" + fd).string();
        INFO(fd << " -> " << target);
        if (target.starts_with(model.path() + "/")) {
            of_the_source.push_back(target);
            CHECK_FALSE(is_writable(process, fd));
        } else if (!has_open(target)) {
            // The device, the standard streams, what signals and ends are waited for with.
            const bool is_known = target == "/dev/fuse" || target == "/dev/null" || target.starts_with("/memfd:") ||
                                  target == "anon_inode:[signalfd]" || target == "anon_inode:[eventfd]";
            CHECK(is_known);
        }
    }
    std::sort(of_the_source.begin(), of_the_source.end());
    CHECK(of_the_source ==
          std::vector<std::string>{model.path() + "/one.safetensors", model.path() + "/two.safetensors"});
}

TEST_CASE("nothing of the source is mapped for writing") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Model model;
    Mounted mount(model.path());
    std::ifstream maps(process_folder(mount) + "/maps");
    std::size_t mapped = 0;
    for (std::string line; std::getline(maps, line);) {
        if (line.find(model.path() + "/") == std::string::npos) continue;
        ++mapped;
        CHECK(line.find(" r--") != std::string::npos);
    }
    CHECK(mapped == 2);
}

TEST_CASE("other users are let in with allow_other, as far as the permissions go") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const Model model;
    CHECK(read_as_nobody(Mounted(model.path())) != 0);
    CHECK(read_as_nobody(Mounted(model.path(), {"-o", "allow_other"})) == 0);
    CHECK(read_as_nobody(Mounted(model.path(), {"-o", "allow_other,umask=077"})) != 0);
    CHECK(read_as_nobody(Mounted(model.path(), {"-o", "allow_other,umask=077,uid=65534"})) == 0);
}

TEST_CASE("where users may not use allow_other, the message says what would let them") {
    if (const std::string why = OrdinaryUser::cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (system_allows_other()) SKIP_TEST("/etc/fuse.conf says user_allow_other");
    const OrdinaryUser user;
    for (const char* option : {"allow_other", "allow_root"}) {
        const Result result = user.run_script(std::string("./tensorfs 'my, model' at -o ") + option);
        CHECK(result.code == 8);
        CHECK(result.err.find(std::string(option) + " needs the line `user_allow_other` in /etc/fuse.conf") !=
              std::string::npos);
    }
    CHECK(user.run_script("! grep -q \" $PWD/at \" /proc/self/mountinfo").code == 0);
}
