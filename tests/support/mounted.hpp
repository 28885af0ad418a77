#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/descriptor.hpp"
#include "tests/support/support.hpp"

namespace tensorfs::tests {

/// The program that is tested, as it was built.
const std::string& program();

/// Why nothing can be mounted here; empty if it can. The first thing that a test that mounts asks.
std::string cannot_mount();

/// How long a test waits for what should happen at once. Far more than it ever takes.
inline constexpr std::chrono::seconds patience{30};

/// Waits until `holds` does, and says whether it ever did.
bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds longest = patience);

/// How a program ended and what it printed.
struct Result {
    int code = 0;  // its exit code, or the signal that ended it as a negative number
    std::string out;
    std::string err;
};

/// A program that runs: command line in, output and exit code out. It is ended and reaped by its
/// process id when this goes, and asked to end (SIGTERM) should the test itself be killed.
class Child {
public:
    explicit Child(const std::vector<std::string>& command, const std::string& folder = ".");
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    void signal(int number) const;
    /// Whether it has ended; what it printed so far.
    [[nodiscard]] bool ended();
    [[nodiscard]] std::string errors() const;
    /// Waits for its end. Throws std::runtime_error if that takes longer than patience.
    Result wait();

private:
    Descriptor out_;
    Descriptor err_;
    pid_t pid_ = -1;
    std::optional<int> status_;
};

/// Runs a program to its end.
Result run(const std::vector<std::string>& command, const std::string& folder = ".");
/// The same with what a shell does of it; `$0`, `$1` … are `arguments`.
Result run_shell(const std::string& script, const std::vector<std::string>& arguments);

/// A mount as the kernel lists it in /proc/self/mountinfo, its escapes undone.
struct MountEntry {
    std::string options;  // of this mount
    std::string type;
    std::string source;
    std::string super_options;  // of the filesystem
};
/// All of them by path, in the order in which they were mounted.
std::vector<std::pair<std::string, MountEntry>> list_mounts();
/// The topmost on this path.
std::optional<MountEntry> find_mount(const std::string& path);

/// Unmounts as a user does, with fusermount3, and says whether it could be done. Tries again for a
/// while: any program that just looks at the folder, such as another test's df, makes it busy.
bool unmount(const std::string& path);

/// Unmounts whatever is mounted on `path` or below it, busy or not.
void clear_mounts(const std::string& path);

/// A fresh folder to mount on. What is mounted there goes with it.
class MountPoint {
public:
    MountPoint();
    ~MountPoint();
    MountPoint(const MountPoint&) = delete;
    MountPoint& operator=(const MountPoint&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
    [[nodiscard]] bool is_mounted() const { return find_mount(path_).has_value(); }

private:
    TemporaryFolder folder_;
    std::string path_;
};

/// While it lives, this process becomes the parent of daemons whose parents have ended, so that
/// they can be waited for. What is left of them at the end is killed.
class Adopter {
public:
    Adopter();
    ~Adopter();
    Adopter(const Adopter&) = delete;
    Adopter& operator=(const Adopter&) = delete;

    /// Children of this process, adopted ones among them.
    [[nodiscard]] static std::vector<pid_t> children();
    /// Waits for a child's end and answers its exit code, as in Result. Throws std::runtime_error.
    static int wait(pid_t child);
};

/// A model, mounted by the program in the foreground. Unmounted at the end, come what may.
class Mounted {
public:
    /// Mounts and waits until it answers. Throws std::runtime_error with what the program said.
    explicit Mounted(const std::string& source, const std::vector<std::string>& options = {});
    ~Mounted();
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;

    [[nodiscard]] const std::string& path() const { return at_.path(); }
    [[nodiscard]] std::string operator/(std::string_view name) const { return at_ / name; }
    [[nodiscard]] Child& daemon() { return daemon_; }
    [[nodiscard]] bool is_mounted() const { return at_.is_mounted(); }

    /// How many requests of a kind ("read", "lookup", …) have come to the daemon.
    [[nodiscard]] std::uint64_t requests(const std::string& kind) const;

private:
    MountPoint at_;
    Child daemon_;
};

/// Whether a file of the mount can be read without requests for its bytes. Kernels drop single pages of their own now
/// and then, the more so while the machine is busy: with Linux 6.18, three of 10,240 without any lack of memory. So a
/// large file may take a quarter of the requests that it takes at least where nothing is kept, and what failed is tried
/// again a few times.
bool is_read_from_cache(const Mounted& mount, const std::string& path);

/// An extended attribute's value; nothing where there is none. `error` is set to errno or 0.
std::optional<std::string> get_xattr(const std::string& path, const std::string& name, int* error = nullptr);
/// The names of a file's extended attributes, sorted.
std::vector<std::string> list_xattrs(const std::string& path);

/// An entry of a folder, as readdir(3) gives it.
struct Listed {
    std::string name;
    ino_t inode;
    bool is_folder;
};
/// A folder's entries without "." and "..", in the order of the listing.
std::vector<Listed> list_folder(const std::string& path);
std::vector<std::string> names_in(const std::string& path);

/// Runs scripts/make-model with these arguments, and the folder to fill behind them.
void make_model(std::vector<std::string> arguments, const std::string& folder);

}  // namespace tensorfs::tests
