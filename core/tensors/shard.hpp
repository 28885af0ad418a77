#pragma once

#include <sys/stat.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/descriptor.hpp"

namespace tensorfs {

/// One file of a model: opened once, read-only, and mapped whole when it is to be served.
///
/// Whether the file is still what it was when it was opened is told by its identity: device, inode,
/// size and modification time. A file that was replaced by rename keeps being served: descriptor and
/// mapping still lead to the old one.
///
/// Loading (constructor, read, map) throws Error and belongs to one thread. Serving (the const
/// noexcept members) may be called from any number of threads and answers with an errno value.
class Shard {
public:
    /// Opens `path`, following symbolic links. Throws Error: MissingShard where nothing is there,
    /// NotRegularFile for anything but a regular file (a FIFO or device is not even opened),
    /// SystemError for the rest.
    explicit Shard(std::string path);

    /// As it was given.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// In bytes, when it was opened.
    [[nodiscard]] std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(identity_.st_size); }
    /// The number of the filesystem on which it lies.
    [[nodiscard]] dev_t device() const noexcept { return identity_.st_dev; }
    /// Whether it lies far away (core/base/distant.hpp).
    [[nodiscard]] bool is_distant() const noexcept { return is_distant_; }
    /// When it was last modified, as of its opening.
    [[nodiscard]] timespec modified() const noexcept { return identity_.st_mtim; }

    /// Fills `into` with the bytes at `offset`. Throws Error if they cannot be read or the file
    /// ends before.
    void read(std::uint64_t offset, std::span<char> into) const;

    /// Maps the file, shared and read-only. Where its filesystem cannot map files, or the process may not take
    /// so much of the address space (ulimit -v), it stays unmapped, and copy() reads it all the same. Throws Error
    /// for any other reason. REQUIRES: size() > 0.
    void map();
    [[nodiscard]] bool is_mapped() const noexcept { return region_.get_size() != 0; }
    /// Maps the file and closes the descriptor, where the system does not allow enough of them. From
    /// then on the path is looked at instead, as long as it leads to this file. Throws Error, also where it cannot
    /// be mapped.
    void map_and_close();
    /// The mapping; empty before map(). Touching bytes that were cut off since raises SIGBUS, so
    /// only the kernel may (writev), or whoever has called populate() and can live with the rest.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept;

    enum class State { unchanged, changed, unreachable };
    /// Whether the file is what it was when it was opened, as far as its filesystem tells.
    [[nodiscard]] State state() const noexcept;
    [[nodiscard]] bool is_unchanged() const noexcept { return state() == State::unchanged; }
    /// Whether both were opened on the same file, and it was not touched in between.
    [[nodiscard]] bool is_same_file_as(const Shard& other) const noexcept;
    /// Whether `file` is the file that was opened, by whatever name.
    [[nodiscard]] bool is(const struct stat& file) const noexcept {
        return file.st_dev == identity_.st_dev && file.st_ino == identity_.st_ino;
    }
    /// Brings a range of the mapping into memory; false where the file's bytes are not to be had:
    /// cut off, or the disk fails.
    [[nodiscard]] bool populate(std::uint64_t offset, std::uint64_t length) const noexcept;

    /// Whether the file is still open: not after map_and_close().
    [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(file_); }
    /// Fills `into` with the bytes at `offset`; false where they are not to be had. No signal comes of
    /// bytes that were cut off. Reads by `through`, if there is one, which reopen() has returned.
    [[nodiscard]] bool copy(std::uint64_t offset, std::span<std::byte> into,
                            const Descriptor& through = {}) const noexcept;
    /// Opens the file again, so that its filesystem sees another reader. Nothing where that cannot be done, or it is
    /// not what it was. REQUIRES: is_open().
    [[nodiscard]] Descriptor reopen() const noexcept;
    /// As copy_file_range(2), to the place `at` of the file `to`: how many bytes were copied, or -1 and errno. EBADF
    /// unless is_open().
    [[nodiscard]] ssize_t copy_range(std::uint64_t offset, std::uint64_t nbytes, int to,
                                     std::uint64_t at) const noexcept;

    // What follows is advice: the system may do less, and nothing that is served depends on it.

    /// Has a range read from the disk, without waiting for it; by `through`, if there is one.
    void read_ahead(std::uint64_t offset, std::uint64_t length, const Descriptor& through = {}) const noexcept;
    /// Takes the pages of a range out of this process; they stay in the system's page cache.
    void let_go(std::uint64_t offset, std::uint64_t length) const noexcept;
    /// Drops the whole pages of a range from the system's page cache, but for those that some process
    /// has mapped. Does nothing after map_and_close().
    void drop_cached(std::uint64_t offset, std::uint64_t length) const noexcept;

private:
    void map_or_throw();
    /// As pread(2).
    [[nodiscard]] ssize_t read_some(std::uint64_t offset, std::span<std::byte> into,
                                    const Descriptor& through = {}) const noexcept;
    [[nodiscard]] bool is_as_it_was(const struct stat& found) const noexcept;
    int advise(std::uint64_t offset, std::uint64_t length, int advice) const noexcept;

    std::string path_;
    Descriptor file_;
    struct stat identity_ {};
    bool is_distant_ = false;
    boost::interprocess::mapped_region region_;
};

}  // namespace tensorfs
