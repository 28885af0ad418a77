#pragma once

#include <string>
#include <string_view>

#include "tests/support/contents.hpp"

namespace tensorfs::tests {

/// Writes pickles by hand: each call appends an instruction, or some, and none is checked. What is not
/// said here is appended as it is.
class PickleWriter {
public:
    /// Begins with a protocol; without, it begins with nothing.
    explicit PickleWriter(int protocol = 2) : bytes_{"\x80"} { bytes_ += static_cast<char>(protocol); }
    static PickleWriter bare() {
        PickleWriter writer;
        writer.bytes_.clear();
        return writer;
    }

    PickleWriter& raw(std::string_view bytes) {
        bytes_ += bytes;
        return *this;
    }
    PickleWriter& integer(std::int32_t value) { return raw("J" + little_endian(static_cast<std::uint32_t>(value), 4)); }
    /// Of any size up to 255 bytes, in two's complement, the lowest first.
    PickleWriter& large_integer(std::string_view bytes) {
        return raw("\x8A" + little_endian(bytes.size(), 1)).raw(bytes);
    }
    PickleWriter& integer64(std::int64_t value) {
        return large_integer(little_endian(static_cast<std::uint64_t>(value), 8));
    }
    PickleWriter& text(std::string_view value) { return raw("X" + little_endian(value.size(), 4)).raw(value); }
    PickleWriter& bytes(std::string_view value) { return raw("B" + little_endian(value.size(), 4)).raw(value); }
    PickleWriter& global(std::string_view module, std::string_view name) {
        return raw("c").raw(module).raw("\n").raw(name).raw("\n");
    }
    PickleWriter& none() { return raw("N"); }
    PickleWriter& yes() { return raw("\x88"); }
    PickleWriter& no() { return raw("\x89"); }
    PickleWriter& mark() { return raw("("); }
    /// Of what stands behind the mark.
    PickleWriter& tuple() { return raw("t"); }
    /// A tuple of integers.
    template <typename Numbers>
    PickleWriter& integers(const Numbers& numbers) {
        mark();
        for (const std::int64_t number : numbers) integer64(number);
        return tuple();
    }
    PickleWriter& dict() { return raw("}"); }
    PickleWriter& list() { return raw("]"); }
    PickleWriter& set_items() { return raw("u"); }
    PickleWriter& appends() { return raw("e"); }
    /// Of the global and the tuple on the stack.
    PickleWriter& call() { return raw("R"); }
    PickleWriter& build() { return raw("b"); }
    PickleWriter& put(int index) { return raw("q" + little_endian(static_cast<std::uint64_t>(index), 1)); }
    PickleWriter& get(int index) { return raw("h" + little_endian(static_cast<std::uint64_t>(index), 1)); }

    /// STOP, and all that was written.
    [[nodiscard]] std::string stop() const { return bytes_ + '.'; }
    [[nodiscard]] const std::string& so_far() const { return bytes_; }

private:
    std::string bytes_;
};

}  // namespace tensorfs::tests
