#include "core/tensors/shard.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/interprocess/exceptions.hpp>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/base/distant.hpp"
#include "core/base/error.hpp"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14; older C libraries do not name it
#endif

namespace tensorfs {
namespace {

namespace ipc = boost::interprocess;

/// What Boost.Interprocess maps is anything that shows a handle: here, a descriptor we opened
/// ourselves, so that no second look at the path can find another file there.
struct Mappable {
    int fd;
    [[nodiscard]] ipc::mapping_handle_t get_mapping_handle() const {
        return ipc::ipcdetail::mapping_handle_from_file_handle(fd);
    }
};

Problem not_regular(const std::string& path, mode_t mode) {
    const char* what = S_ISDIR(mode)    ? "a folder"
                       : S_ISFIFO(mode) ? "a FIFO"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a device";
    return {Kind::NotRegularFile, path, {}, std::string("this is ") + what + ", not a regular file"};
}

std::uint64_t page_size() {
    static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

/// As pread(2), from a mapping: the kernel copies, so that a page that is not to be had is an error.
ssize_t copy_mapped(std::span<const std::byte> mapping, std::uint64_t offset, std::span<std::byte> into) {
    if (offset > mapping.size()) return 0;
    const std::size_t size = std::min(into.size(), mapping.size() - offset);
    const iovec from{const_cast<std::byte*>(mapping.data() + offset), size};
    const iovec to{into.data(), size};
    return ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
}

bool same_time(timespec a, timespec b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

}  // namespace

Shard::Shard(std::string path) : path_(std::move(path)) {
    // Looked at before it is opened: opening a device can have effects, and a FIFO can block.
    struct stat before {};
    if (::stat(path_.c_str(), &before) != 0) {
        const int error = errno;
        if (error == ENOENT || error == ENOTDIR) throw Error({Kind::MissingShard, path_, {}, "there is no such file"});
        throw Error(system_problem(path_, "cannot look at it", error));
    }
    if (!S_ISREG(before.st_mode)) throw Error(not_regular(path_, before.st_mode));

    file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file_) throw Error(system_problem(path_, "cannot open it", errno));
    if (::fstat(file_.get(), &identity_) != 0) throw Error(system_problem(path_, "cannot look at it", errno));
    if (!S_ISREG(identity_.st_mode)) throw Error(not_regular(path_, identity_.st_mode));
    is_distant_ = is_on_distant_filesystem(file_.get());
}

ssize_t Shard::read_some(std::uint64_t offset, std::span<std::byte> into, const Descriptor& through) const noexcept {
    const int fd = through ? through.get() : file_.get();
    return fd >= 0 ? ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset))
                   : copy_mapped(bytes(), offset, into);
}

Descriptor Shard::reopen() const noexcept {
    // By the descriptor, not the path, which may lead to another file by now.
    std::array<char, 32> path;
    std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", file_.get());
    Descriptor again(::open(path.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat found {};
    if (again && (::fstat(again.get(), &found) != 0 || !is_as_it_was(found))) again.reset();
    return again;
}

void Shard::read(std::uint64_t offset, std::span<char> into) const {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got = read_some(offset + done, std::as_writable_bytes(into).subspan(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw Error(system_problem(path_, "cannot read it", errno));
        if (got == 0) throw Error({Kind::SystemError, path_, {}, "the file became shorter while it was read"});
        done += static_cast<std::size_t>(got);
    }
}

void Shard::map() {
    try {
        map_or_throw();
    } catch (const ipc::interprocess_exception& e) {
        const int error = e.get_native_error();
        if (error == ENODEV || error == ENOMEM || error == EAGAIN) return;
        throw Error(system_problem(path_, "cannot map it into memory", error));
    }
}

void Shard::map_or_throw() {
    region_ = ipc::mapped_region(Mappable{file_.get()}, ipc::read_only, 0, size());
    // Missing pages are then read as read(2) would: ahead, in large pieces, and without waiting where
    // it goes on. Without this they are read around each place that is touched.
    region_.advise(ipc::mapped_region::advice_sequential);
}

std::span<const std::byte> Shard::bytes() const noexcept {
    return {static_cast<const std::byte*>(region_.get_address()), region_.get_size()};
}

void Shard::map_and_close() {
    try {
        map_or_throw();
    } catch (const ipc::interprocess_exception& e) {
        throw Error(system_problem(path_, "cannot map it into memory", e.get_native_error()));
    }
    file_.reset();
}

bool Shard::is_as_it_was(const struct stat& found) const noexcept {
    // Not the change time: a link, a rename or a chmod sets that, too, and leaves the bytes as they were.
    return is(found) && found.st_size == identity_.st_size && same_time(found.st_mtim, identity_.st_mtim);
}

Shard::State Shard::state() const noexcept {
    struct stat now {};
    if (file_) {
        if (::fstat(file_.get(), &now) != 0) return State::unreachable;
    } else {
        const bool path_leads_here = ::stat(path_.c_str(), &now) == 0 && is(now);
        // Removed or replaced: nobody else can reach what is mapped, so nobody can change it.
        if (!path_leads_here) return State::unchanged;
    }
    return is_as_it_was(now) ? State::unchanged : State::changed;
}

bool Shard::is_same_file_as(const Shard& other) const noexcept {
    // The change time as well: a reload that finds it different looks again, which costs little, where a writer
    // that set the modification time back would go unnoticed otherwise.
    const struct stat& a = identity_;
    const struct stat& b = other.identity_;
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && same_time(a.st_mtim, b.st_mtim) &&
           same_time(a.st_ctim, b.st_ctim);
}

bool Shard::populate(std::uint64_t offset, std::uint64_t length) const noexcept {
    if (length == 0 || !is_mapped()) return true;
    while (advise(offset, length, MADV_POPULATE_READ) != 0) {
        if (errno == EINVAL) return true;  // a kernel before 5.14: writev faults the pages in itself
        if (errno != EINTR && errno != EAGAIN) return false;
    }
    return true;
}

bool Shard::copy(std::uint64_t offset, std::span<std::byte> into, const Descriptor& through) const noexcept {
    while (!into.empty()) {
        const ssize_t got = read_some(offset, into, through);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        into = into.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
    return true;
}

ssize_t Shard::copy_range(std::uint64_t offset, std::uint64_t nbytes, int to, std::uint64_t at) const noexcept {
    auto in = static_cast<off64_t>(offset);
    auto out = static_cast<off64_t>(at);
    return ::copy_file_range(file_.get(), &in, to, &out, nbytes, 0);
}

void Shard::read_ahead(std::uint64_t offset, std::uint64_t length, const Descriptor& through) const noexcept {
    // The kernel cuts what is asked for at once to the device's own read-ahead, 128 KiB and less on
    // network filesystems, so it is asked for in steps.
    constexpr std::uint64_t step = 64 << 10;
    for (std::uint64_t end = offset + length; offset < end; offset += step) {
        const std::uint64_t size = std::min(step, end - offset);
        if (is_mapped() && !through) {
            static_cast<void>(advise(offset, size, MADV_WILLNEED));
        } else {
            const int fd = through ? through.get() : file_.get();
            ::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
        }
    }
}

void Shard::let_go(std::uint64_t offset, std::uint64_t length) const noexcept {
    if (is_mapped()) static_cast<void>(advise(offset, length, MADV_DONTNEED));
}

void Shard::drop_cached(std::uint64_t offset, std::uint64_t length) const noexcept {
    if (file_)
        ::posix_fadvise(file_.get(), static_cast<off_t>(offset), static_cast<off_t>(length), POSIX_FADV_DONTNEED);
}

int Shard::advise(std::uint64_t offset, std::uint64_t length, int advice) const noexcept {
    const std::uint64_t begin = offset / page_size() * page_size();
    // madvise wants a mutable pointer but none of our advice writes.
    return ::madvise(const_cast<std::byte*>(bytes().data() + begin), offset + length - begin, advice);
}

}  // namespace tensorfs
