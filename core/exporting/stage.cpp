#include "core/exporting/stage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/exporting/target_error.hpp"

namespace tensorfs {
namespace {

namespace fs = std::filesystem;

/// A name that begins with a dot is never taken for a shard.
std::string new_name() { return fmt::format(".tensorfs-export-{:08x}", std::random_device()()); }

/// Renames, in one step, unless something has the name. On filesystems that cannot do that in one step, in two.
int rename_to_new(int from_folder, const char* from, int to_folder, const char* to) {
    if (::renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    struct stat there {};
    if (::fstatat(to_folder, to, &there, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
    return ::renameat(from_folder, from, to_folder, to) == 0 ? 0 : errno;
}

}  // namespace

void Stage::fail(const std::string& path, int error) const {
    throw TargetError(fmt::format(
        "{}: {}", printable(path),
        error == EEXIST || error == ENOTEMPTY ? "something was put there meanwhile" : system_message(error)));
}

Stage::Stage(std::string path, Target target) : path_(std::move(path)), target_(target) {
    const fs::path whole(path_);
    const std::string parent = target == Target::present_folder ? path_
                               : whole.has_parent_path()        ? whole.parent_path().string()
                                                                : ".";
    base_ = whole.filename().string();
    parent_ = Descriptor(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent_) fail(parent, errno);
    do {
        name_ = new_name();
    } while (::mkdirat(parent_.get(), name_.c_str(), 0777) != 0 && errno == EEXIST);
    folder_ = Descriptor(::openat(parent_.get(), name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder_) return;
    const int error = errno;
    static_cast<void>(::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR));
    throw TargetError(fmt::format("cannot write in {}: {}", printable(parent), system_message(error)));
}

Stage::~Stage() { remove(); }

void Stage::remove() noexcept {
    if (name_.empty()) return;
    for (std::size_t i = moved_; i < files_.size(); ++i) ::unlinkat(folder_.get(), files_[i].c_str(), 0);
    ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
    name_.clear();
}

OutputFile Stage::create(const std::string& name) {
    Descriptor file(::openat(folder_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    const std::string path = target_ == Target::file ? path_ : path_ + '/' + name;
    if (!file) fail(path, errno);
    files_.push_back(name);
    return {std::move(file), path};
}

void Stage::check_space(std::uint64_t nbytes) const {
    struct statvfs space {};
    if (::fstatvfs(folder_.get(), &space) != 0 || space.f_blocks == 0) return;  // it does not tell
    const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
    if (nbytes <= free) return;
    throw TargetError(
        fmt::format("{}: {} bytes are to be written, and the filesystem has {} left", printable(path_), nbytes, free));
}

void Stage::move_file(const std::string& name, const std::string& to, bool may_replace) {
    const int error = !may_replace ? rename_to_new(folder_.get(), name.c_str(), parent_.get(), to.c_str())
                      : ::renameat(folder_.get(), name.c_str(), parent_.get(), to.c_str()) == 0 ? 0
                                                                                                : errno;
    if (error != 0) fail(target_ == Target::file ? path_ : path_ + '/' + to, error);
    ++moved_;
}

void Stage::publish(bool may_replace) {
    static_cast<void>(::fsync(folder_.get()));  // where a folder cannot be synced, there is nothing more to do
    if (target_ == Target::new_folder) {
        const int error = rename_to_new(parent_.get(), name_.c_str(), parent_.get(), base_.c_str());
        if (error != 0) fail(path_, error);
        name_.clear();
    } else {
        for (const std::string& name : files_) {
            try {
                move_file(name, target_ == Target::file ? base_ : name, may_replace);
            } catch (...) {
                // Half a set is none. What it replaced is gone, which is why an index is moved last.
                for (std::size_t i = 0; i < moved_; ++i) ::unlinkat(parent_.get(), files_[i].c_str(), 0);
                throw;
            }
        }
        remove();
    }
    static_cast<void>(::fsync(parent_.get()));
}

}  // namespace tensorfs
