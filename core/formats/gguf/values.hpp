#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/formats/gguf/window.hpp"
#include "core/formats/metadata.hpp"

namespace tensorfs::gguf {

/// The types of the values of metadata, by their ids.
enum class ValueType : std::uint8_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

/// The type that comes next; `what` has it, is for messages. Throws Error where there is no such type.
ValueType read_type(Window& window, std::string_view what);

/// A type's name, such as "u32".
std::string_view to_string(ValueType type);

/// Reads values. REQUIRES: the window outlives it.
class ValueReader {
public:
    /// What is not to be kept is passed over.
    ValueReader(Window& window, Keep keep) : window_(window), keep_(keep) {}

    /// The value of that type that comes next. Throws Error.
    MetadataValue read(ValueType type);
    /// How many values so far were arrays of arrays.
    [[nodiscard]] std::uint64_t nested() const { return nested_; }

private:
    /// What an array begins with, checked: the file has room for so many elements.
    struct ArrayHead {
        ValueType of;
        std::uint64_t count;
    };
    ArrayHead read_array_head(unsigned depth);
    MetadataValue read_number(ValueType type);
    void skip_array(unsigned depth);
    /// Appends an array as JSON.
    void write_array(unsigned depth, std::string& out);
    void write_string(std::string& out);

    Window& window_;
    Keep keep_;
    std::uint64_t nested_ = 0;
    std::string text_;
};

}  // namespace tensorfs::gguf
