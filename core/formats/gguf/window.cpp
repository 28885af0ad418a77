#include "core/formats/gguf/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace tensorfs::gguf {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths are little-endian, and read as they lie");

// Little, since most headers are; then as much as stays in a processor's cache.
constexpr std::size_t first_piece = 64 << 10;
constexpr std::size_t buffer_size = 256 << 10;

constexpr std::size_t length_size = 8;

}  // namespace

void Window::fail(Kind kind, std::string text) const { throw Error({kind, path(), {}, std::move(text)}); }

void Window::fail_short(std::string_view what) const {
    fail(
        Kind::InvalidHeaderLength,
        fmt::format("{} at byte {} runs past the end of the file, which has {} bytes: it was cut short, is still being "
                    "downloaded, or is not what it claims to be",
                    what, position(), shard_.size()));
}

void Window::fill(std::size_t least, std::string_view what) {
    if (least <= end_ - at_) return;
    if (least > left()) fail_short(what);
    if (buffer_ == nullptr) {
        buffer_ = std::make_unique_for_overwrite<char[]>(
            static_cast<std::size_t>(std::min<std::uint64_t>(buffer_size, shard_.size())));
        next_ = first_piece;
    }
    std::memmove(buffer_.get(), buffer_.get() + at_, end_ - at_);
    begin_ += at_;
    end_ -= at_;
    at_ = 0;
    const std::size_t wanted = std::max(next_, least) - end_;
    const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, shard_.size() - begin_ - end_));
    shard_.read(begin_ + end_, {buffer_.get() + end_, more});
    end_ += more;
    next_ = buffer_size;
}

std::uint64_t Window::number(std::size_t size, std::string_view what) {
    fill(size, what);
    std::uint64_t value = 0;
    std::memcpy(&value, buffer_.get() + at_, size);
    at_ += size;
    return value;
}

void Window::read(std::uint64_t size, std::string& text, std::string_view what) {
    if (size > left()) fail_short(what);
    text.resize(static_cast<std::size_t>(size));
    const std::size_t buffered = std::min(text.size(), end_ - at_);
    if (buffered != 0) std::memcpy(text.data(), buffer_.get() + at_, buffered);
    at_ += buffered;
    const std::size_t rest = text.size() - buffered;
    if (rest == 0) return;
    if (rest < buffer_size / 2) {
        fill(rest, what);
        std::memcpy(text.data() + buffered, buffer_.get() + at_, rest);
        at_ += rest;
        return;
    }
    shard_.read(position(), {text.data() + buffered, rest});
    skip(rest, what);
}

void Window::skip(std::uint64_t size, std::string_view what) {
    if (size > left()) fail_short(what);
    if (size <= end_ - at_) {
        at_ += static_cast<std::size_t>(size);
        return;
    }
    begin_ = position() + size;
    at_ = end_ = 0;
}

void Window::skip_strings(std::uint64_t count, std::string_view what) {
    while (count > 0) {
        // Those that lie whole in the buffer: a length is all that is looked at.
        const char* const bytes = buffer_.get();
        std::size_t at = at_;
        while (count > 0 && end_ - at >= length_size) {
            std::uint64_t length = 0;
            std::memcpy(&length, bytes + at, length_size);
            if (length > end_ - at - length_size) break;
            at += length_size + static_cast<std::size_t>(length);
            --count;
        }
        at_ = at;
        if (count == 0) return;
        skip(number(length_size, what), what);
        --count;
    }
}

}  // namespace tensorfs::gguf
