#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/descriptor.hpp"

// Those who use a mount: they read past the kernel's cache, map files, and die of it.

namespace tensorfs::tests {

/// A process that runs `work` in a copy of this one and exits with what it answers. It is killed and
/// reaped when this goes.
class Forked {
public:
    explicit Forked(const std::function<int()>& work);
    ~Forked();
    Forked(const Forked&) = delete;
    Forked& operator=(const Forked&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool ended();
    /// Its exit code, or the signal that ended it as a negative number. Throws std::runtime_error if
    /// that takes longer than patience.
    int wait();

private:
    pid_t pid_;
    std::optional<int> status_;
};

/// A process's state as in /proc/PID/stat ('S' sleeping, 'D' waiting for a disk, 'T' stopped …), or 0.
char process_state(pid_t pid);

/// Opens a file for reads that pass every cache but the daemon's. Throws std::runtime_error.
Descriptor open_direct(const std::string& path);

/// What a read gave: bytes, or an errno value.
struct Got {
    std::string bytes;
    int error = 0;
};
/// One read. Bytes that were not delivered do not count as zeros.
Got read_once(const Descriptor& file, std::size_t offset, std::size_t size);

/// What becomes of a process that maps the file and compares bytes at `offset`: 0 if they are right,
/// 1 if not, -SIGBUS if it dies of looking.
int look_through_mapping(const std::string& path, std::size_t offset, std::string_view expected);

/// How often `part` stands in `text`.
std::size_t count_of(std::string_view part, std::string_view text);

}  // namespace tensorfs::tests
