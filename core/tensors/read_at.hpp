#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace tensorfs {

/// Fills `into` with a file's bytes at `offset`; false where they are not to be had. Must not throw.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;

}  // namespace tensorfs
