#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::gguf {

/// A file read from beginning to end through a buffer. What is claimed to follow but does not is an Error
/// (InvalidHeaderLength) that says within what the file ends, and costs nothing. REQUIRES: the shard outlives it.
class Window {
public:
    explicit Window(const Shard& shard) : shard_(shard) {}

    /// In bytes from the start of the file.
    [[nodiscard]] std::uint64_t position() const { return begin_ + at_; }
    /// How many bytes follow.
    [[nodiscard]] std::uint64_t left() const { return shard_.size() - position(); }
    [[nodiscard]] const std::string& path() const { return shard_.path(); }

    /// The unsigned number of `size` bytes that comes next. `what` it is, is for the message: "the number of keys".
    /// REQUIRES: size is at most 8.
    std::uint64_t number(std::size_t size, std::string_view what);
    /// Sets `text` to the next `size` bytes.
    void read(std::uint64_t size, std::string& text, std::string_view what);
    /// Passes over as many bytes, without reading what is not in the buffer.
    void skip(std::uint64_t size, std::string_view what);
    /// Passes over so many strings, each its length and its bytes. A vocabulary has hundreds of thousands.
    void skip_strings(std::uint64_t count, std::string_view what);

    /// Throws an Error about the file, not about a tensor.
    [[noreturn]] void fail(Kind kind, std::string text) const;

private:
    [[noreturn]] void fail_short(std::string_view what) const;
    /// Has at least so many bytes in the buffer.
    void fill(std::size_t least, std::string_view what);

    const Shard& shard_;
    std::unique_ptr<char[]> buffer_;
    std::uint64_t begin_ = 0;       // where in the file the buffer begins
    std::size_t at_ = 0, end_ = 0;  // in the buffer: the byte that comes next, and where what was read ends
    std::size_t next_ = 0;          // how many bytes the buffer has after the next look at the file
};

}  // namespace tensorfs::gguf
