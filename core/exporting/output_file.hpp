#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/descriptor.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs {

/// A file that is being written, at any places, by any number of threads.
class OutputFile {
public:
    /// `path` is for messages.
    OutputFile(Descriptor file, std::string path);

    /// Gives it its size, and takes the room for it where the filesystem can, so that a full disk is known at once.
    /// Throws TargetError.
    void reserve(std::uint64_t nbytes) const;
    /// Throws TargetError.
    void write(std::uint64_t at, std::span<const std::byte> bytes) const;
    /// Copies bytes of a shard to the place `at` without looking at them: within the kernel, or shared by both files
    /// where the filesystem can do that. Returns how many were copied: fewer, or none, where that is not to be had.
    /// Throws TargetError.
    [[nodiscard]] std::uint64_t copy(const Shard& shard, std::uint64_t offset, std::uint64_t nbytes,
                                     std::uint64_t at) const;
    /// Has a range written to the disk, without waiting for it.
    void start_writing_back(std::uint64_t at, std::uint64_t nbytes) const noexcept;
    /// Returns when all is on the disk. Throws TargetError.
    void sync() const;

private:
    [[noreturn]] void fail(int error) const;

    Descriptor file_;
    std::string path_;
};

}  // namespace tensorfs
