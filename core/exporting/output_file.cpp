#include "core/exporting/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/exporting/target_error.hpp"

namespace tensorfs {
namespace {

/// Whether an errno value says that no more can be written, by whatever means.
bool is_final(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

}  // namespace

OutputFile::OutputFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

void OutputFile::fail(int error) const {
    throw TargetError(fmt::format("{}: cannot write it: {}", printable(path_), system_message(error)));
}

void OutputFile::reserve(std::uint64_t nbytes) const {
    if (nbytes == 0) return;
    while (::fallocate(file_.get(), 0, 0, static_cast<off_t>(nbytes)) != 0) {
        if (errno == EINTR) continue;
        if (is_final(errno)) fail(errno);
        if (::ftruncate(file_.get(), static_cast<off_t>(nbytes)) != 0) fail(errno);
        return;
    }
}

void OutputFile::write(std::uint64_t at, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail(written < 0 ? errno : ENOSPC);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
}

std::uint64_t OutputFile::copy(const Shard& shard, std::uint64_t offset, std::uint64_t nbytes, std::uint64_t at) const {
    std::uint64_t done = 0;
    while (done < nbytes) {
        const ssize_t copied = shard.copy_range(offset + done, nbytes - done, file_.get(), at + done);
        if (copied < 0 && errno == EINTR) continue;
        if (copied < 0 && is_final(errno)) fail(errno);
        if (copied <= 0) break;  // another filesystem, or one that cannot; what else is wrong, a read will tell
        done += static_cast<std::uint64_t>(copied);
    }
    return done;
}

void OutputFile::start_writing_back(std::uint64_t at, std::uint64_t nbytes) const noexcept {
    // Advice: where it is not heeded, sync() takes longer.
    static_cast<void>(
        ::sync_file_range(file_.get(), static_cast<off64_t>(at), static_cast<off64_t>(nbytes), SYNC_FILE_RANGE_WRITE));
}

void OutputFile::sync() const {
    while (::fsync(file_.get()) != 0) {
        if (errno == EINTR) continue;
        if (errno == EINVAL || errno == EROFS) return;  // the filesystem has nothing to wait for
        fail(errno);
    }
}

}  // namespace tensorfs
