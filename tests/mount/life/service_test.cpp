// What a service manager is told of a mount, and what becomes of the mount when its daemon crashes.

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>

#include "tests/mount/life/notify_socket.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/clients.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;
using namespace std::chrono_literals;

namespace {

/// A model on a disk that hangs when it is told to.
class HangingModel {
public:
    HangingModel() {
        write_file(files_ / "a.safetensors", safetensors_file({{"a.weight", "U8", {4}, "abcd"},
                                                               {"big", "U8", {4 << 20}, std::string(4 << 20, 'x')}}));
        disk_ = std::make_unique<Child>(
            std::vector<std::string>{TENSORFS_FAULTY_FS, files_.path().string(), faults_.path().string(), at_.path()});
        if (!eventually([&] { return std::filesystem::exists(at_ / "a.safetensors") || disk_->ended(); }) ||
            disk_->ended())
            throw std::runtime_error("the disk is not there: " + disk_->errors());
    }
    ~HangingModel() { heal(); }
    HangingModel(const HangingModel&) = delete;
    HangingModel& operator=(const HangingModel&) = delete;

    [[nodiscard]] const std::string& path() const { return at_.path(); }
    void hang() const { write_file(faults_ / "a.safetensors", "hang"); }
    void heal() const { std::filesystem::remove(faults_ / "a.safetensors"); }
    /// Nobody has read it yet, so that it must be read from the disk.
    void add_hanging_shard() const {
        write_file(faults_ / "b.safetensors", "hang");
        write_file(files_ / "b.safetensors", safetensors_file({{"more", "U8", {4}, "more"}}));
    }

private:
    TemporaryFolder files_;
    TemporaryFolder faults_;
    MountPoint at_;
    std::unique_ptr<Child> disk_;
};

std::string write_model(const TemporaryFolder& folder, const std::string& bytes = "abcd") {
    const std::string path = folder / "model.safetensors";
    write_file(path + ".new", safetensors_file({{"a.weight", "U8", {bytes.size()}, bytes}}));
    std::filesystem::rename(path + ".new", path);
    return path;
}

/// The command of a service: in the foreground, with these variables set.
std::vector<std::string> service(std::vector<std::string> variables, const std::string& source, const std::string& at,
                                 const std::vector<std::string>& options = {}) {
    std::vector<std::string> command{"env"};
    command.insert(command.end(), variables.begin(), variables.end());
    command.insert(command.end(), {program(), "-f", "-o", "log=warning", source, at});
    command.insert(command.end(), options.begin(), options.end());
    return command;
}

/// A service that has said that it is ready.
class Ready {
public:
    Ready(const NotifySocket& manager, const std::vector<std::string>& command) : daemon(command) {
        static_cast<void>(manager.wait_for("READY=1"));
    }

    /// Ends it as a service manager does, and checks that it ends well.
    void end() {
        daemon.signal(SIGTERM);
        CHECK(daemon.wait().code == 0);
    }

    Child daemon;
};

bool answers(const MountPoint& at) { return at.is_mounted() && read_file(at / "a/weight") == "abcd"; }

}  // namespace

TEST_CASE("a service is ready when the mount answers, not before") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const HangingModel model;
    model.hang();  // so that the header cannot be read
    const NotifySocket manager;
    const MountPoint at;
    Child daemon(service({manager.variable()}, model.path(), at.path()));
    CHECK_FALSE(manager.next(300ms));
    CHECK_FALSE(at.is_mounted());
    model.heal();
    const std::string message = manager.wait_for("READY=1");
    CHECK(answers(at));
    CHECK(has_line(message, "MAINPID=" + std::to_string(daemon.pid())));
    CHECK(message.find("\nSTATUS=2 tensors of ") != std::string::npos);
    daemon.signal(SIGTERM);
    CHECK(daemon.wait().code == 0);
}

TEST_CASE("a source that cannot be mounted is never ready, and the exit code tells") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const NotifySocket manager;
    const MountPoint at;
    CHECK(run(service({manager.variable()}, folder / "nothing.safetensors", at.path())).code == 3);
    CHECK(manager.all().empty());
}

TEST_CASE("a daemon that leaves the foreground says which process it is") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const NotifySocket manager;
    const Adopter adopter;
    const MountPoint at;
    CHECK(run({"env", manager.variable(), program(), write_model(folder), at.path()}).code == 0);
    const std::string message = manager.wait_for("READY=1");
    REQUIRE(Adopter::children().size() == 1);
    CHECK(has_line(message, "MAINPID=" + std::to_string(Adopter::children().front())));
    CHECK(unmount(at.path()));
    CHECK(Adopter::wait(Adopter::children().front()) == 0);
}

TEST_CASE("a reload is announced, and its end, whether it went well or not") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string model = write_model(folder);
    const NotifySocket manager;
    const MountPoint at;
    Ready mount(manager, service({manager.variable()}, model, at.path()));

    write_model(folder, "other");
    mount.daemon.signal(SIGHUP);
    const std::string reloading = manager.wait_for("RELOADING=1");
    CHECK(reloading.find("\nMONOTONIC_USEC=") != std::string::npos);
    static_cast<void>(manager.wait_for("READY=1"));
    CHECK(read_file(at / "a/weight") == "other");  // what is ready is the new one

    write_file(model, "junk");
    mount.daemon.signal(SIGHUP);
    static_cast<void>(manager.wait_for("RELOADING=1"));
    CHECK(manager.wait_for("READY=1").find("; the last reload failed: ") != std::string::npos);

    write_model(folder, "third");
    mount.daemon.signal(SIGHUP);
    CHECK(manager.wait_for("READY=1").find("failed") == std::string::npos);
    mount.end();
}

TEST_CASE("the end is announced: by a signal, and when it is unmounted") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string model = write_model(folder);
    const NotifySocket manager;
    const MountPoint at;
    for (const bool by_signal : {true, false}) {
        Ready mount(manager, service({manager.variable()}, model, at.path()));
        if (by_signal) {
            mount.daemon.signal(SIGTERM);
        } else {
            CHECK(unmount(at.path()));
        }
        static_cast<void>(manager.wait_for("STOPPING=1"));
        CHECK(mount.daemon.wait().code == 0);
    }
}

TEST_CASE("started again after a crash, a service clears the dead mount and is ready") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string model = write_model(folder);
    const NotifySocket manager;
    const MountPoint at;
    for (const int crash : {SIGKILL, SIGABRT}) {
        Ready mount(manager, service({manager.variable()}, model, at.path()));
        const tensorfs::Descriptor held(::open((at / "a/weight").c_str(), O_RDONLY | O_CLOEXEC));
        CHECK(held);
        mount.daemon.signal(crash);
        CHECK(mount.daemon.wait().code == -crash);
        CHECK(at.is_mounted());  // but dead
        Ready again(manager, service({manager.variable()}, model, at.path()));
        CHECK(answers(at));
        again.end();
        CHECK_FALSE(at.is_mounted());
    }
}

TEST_CASE("the watchdog hears from a mount that answers, and not from one that is stopped") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const NotifySocket manager;
    const MountPoint at;
    Ready mount(manager, service({manager.variable(), "WATCHDOG_USEC=400000"}, write_model(folder), at.path()));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) static_cast<void>(manager.wait_for("WATCHDOG=1"));
    CHECK(std::chrono::steady_clock::now() - start > 400ms);  // every 200 ms, less what this was late: no flood

    mount.daemon.signal(SIGSTOP);
    std::this_thread::sleep_for(50ms);
    static_cast<void>(manager.all());
    CHECK_FALSE(manager.next(600ms));
    mount.daemon.signal(SIGCONT);
    static_cast<void>(manager.wait_for("WATCHDOG=1"));
    mount.end();
}

TEST_CASE("a disk that hangs is no reason for the watchdog to bite") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const HangingModel model;
    const NotifySocket manager;
    const MountPoint at;
    Ready mount(manager,
                service({manager.variable(), "WATCHDOG_USEC=400000"}, model.path(), at.path(), {"-o", "threads=2"}));
    model.hang();
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&, i] {
            const tensorfs::Descriptor file(::open((at / "big").c_str(), O_RDONLY | O_CLOEXEC));
            std::string bytes(4096, '\0');
            if (::pread(file.get(), bytes.data(), bytes.size(), i << 20) < 0) return;
        });
    }
    std::this_thread::sleep_for(300ms);
    static_cast<void>(manager.all());
    for (int i = 0; i < 4; ++i) static_cast<void>(manager.wait_for("WATCHDOG=1"));
    model.heal();
    for (std::thread& reader : readers) reader.join();
    mount.end();
    CHECK(mount.daemon.errors().empty());
}

TEST_CASE("a watchdog that is another process's hears nothing") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const NotifySocket manager;
    const MountPoint at;
    Ready mount(manager, service({manager.variable(), "WATCHDOG_USEC=100000", "WATCHDOG_PID=1"}, write_model(folder),
                                 at.path()));
    CHECK_FALSE(manager.next(300ms));
    mount.end();
}

TEST_CASE("a reload that hangs on the disk keeps nobody waiting, and SIGTERM ends it") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const HangingModel model;
    const NotifySocket manager;
    const MountPoint at;
    Ready mount(manager, service({manager.variable()}, model.path(), at.path()));
    CHECK(answers(at));
    model.add_hanging_shard();
    mount.daemon.signal(SIGHUP);
    static_cast<void>(manager.wait_for("RELOADING=1"));
    CHECK_FALSE(manager.next(200ms));
    CHECK(answers(at));  // from what is cached
    CHECK(names_in(at / ".tensorfs").size() > 3);
    mount.end();
    CHECK_FALSE(at.is_mounted());
}

TEST_CASE("SIGTERM ends a mount whose threads hang while the kernel is told of another model, and who waits") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const HangingModel model;
    const TemporaryFolder folder;
    write_file(folder / "other/model.safetensors", safetensors_file({{"a.weight", "U8", {5}, "other"}}));
    const std::string source = folder / "source";
    std::filesystem::create_symlink(model.path(), source);
    const NotifySocket manager;
    const MountPoint at;
    Ready mount(manager, service({manager.variable()}, source, at.path(), {"-o", "threads=1"}));
    model.hang();
    Child reader({"cat", at / "big"});
    std::this_thread::sleep_for(200ms);
    Child seeker({"test", "-e", at / "nothing"});
    std::this_thread::sleep_for(200ms);
    std::filesystem::create_symlink(folder / "other", source + ".new");
    std::filesystem::rename(source + ".new", source);
    mount.daemon.signal(SIGHUP);
    static_cast<void>(manager.wait_for("RELOADING=1"));
    CHECK_FALSE(manager.next(300ms));
    mount.daemon.signal(SIGTERM);
    CHECK(eventually([&] { return seeker.ended(); }, 20s));
    model.heal();
    CHECK(mount.daemon.wait().code == 0);
    CHECK_FALSE(at.is_mounted());
}

TEST_CASE("each SIGHUP is announced, also during a reload") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const HangingModel model;
    const NotifySocket manager;
    const MountPoint at;
    Ready mount(manager, service({manager.variable()}, model.path(), at.path()));
    model.add_hanging_shard();
    mount.daemon.signal(SIGHUP);
    const std::string first = manager.wait_for("RELOADING=1");
    mount.daemon.signal(SIGHUP);
    CHECK(manager.wait_for("RELOADING=1") != first);
    mount.end();
}

TEST_CASE("a service manager that reads nothing keeps no signal from being obeyed") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const NotifySocket manager;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = manager.variable().substr(std::strlen("NOTIFY_SOCKET="));
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const tensorfs::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    while (::send(socket.get(), "x", 1, 0) == 1) {
    }
    const MountPoint at;
    Child daemon(service({manager.variable()}, write_model(folder), at.path()));
    REQUIRE(eventually([&] { return answers(at); }));
    daemon.signal(SIGTERM);
    CHECK(eventually([&] { return daemon.ended(); }, 10s));
    CHECK_FALSE(at.is_mounted());
}

TEST_CASE("a watchdog that bites in half a million years hears no more often than any") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const NotifySocket manager;
    const MountPoint at;
    Ready mount(manager,
                service({manager.variable(), "WATCHDOG_USEC=18446744073709551614"}, write_model(folder), at.path()));
    std::this_thread::sleep_for(500ms);
    CHECK(manager.all().size() <= 1);
    mount.end();
}

TEST_CASE("standard error that nobody reads keeps neither readers nor signals waiting, and tells what it missed") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string model = write_model(folder);
    const std::string fifo = folder / "errors";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    const tensorfs::Descriptor errors(::open(fifo.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    const std::string block(4096, 'x');
    const auto fill = [&] {
        while (::write(errors.get(), block.data(), block.size()) > 0) {
        }
    };
    const auto drain = [&] {
        std::string all;
        std::string some(1 << 16, '\0');
        while (const ssize_t got = ::read(errors.get(), some.data(), some.size())) {
            if (got < 0) break;
            all.append(some, 0, static_cast<std::size_t>(got));
        }
        return all;
    };
    fill();
    const MountPoint at;
    Child daemon({"sh", "-c", R"(exec "$0" -f "$1" "$2" 2>"$3")", program(), model, at.path(), fifo});
    REQUIRE(eventually([&] { return answers(at); }));
    for (int i = 0; i < 2; ++i) {
        daemon.signal(SIGHUP);  // ": unchanged"
        std::this_thread::sleep_for(300ms);
    }
    CHECK(drain().find("tensorfs") == std::string::npos);
    daemon.signal(SIGHUP);
    std::string told;
    CHECK(eventually([&] { return (told += drain()).find(": unchanged") != std::string::npos; }, 10s));
    CHECK(told.find("lines were left out here\n") != std::string::npos);
    fill();
    daemon.signal(SIGTERM);
    CHECK(eventually([&] { return daemon.ended(); }, 10s));
    CHECK_FALSE(at.is_mounted());
}
