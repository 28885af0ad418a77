#include "core/views/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "core/base/little_endian.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t least_alignment = 64;  // which the format asks for

/// Bytes of the data; as many as there can be where that does not fit 64 bits.
std::uint64_t data_size(std::string_view type, Shape shape) {
    if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) return 0;
    std::uint64_t size = 0;
    std::from_chars(type.data() + 2, type.data() + type.size(), size);  // "<f4": of an element
    for (const std::uint64_t dim : shape) {
        if (__builtin_mul_overflow(size, dim, &size)) return UINT64_MAX;
    }
    return size;
}

std::uint64_t alignment_of(std::string_view type, Shape shape) {
    return data_size(type, shape) >= page ? page : least_alignment;
}

// Magic, version, and the length of what follows: two bytes of it in version 1, four in version 2.
constexpr std::uint64_t prefix_1 = 10;
constexpr std::uint64_t prefix_2 = 12;
constexpr std::uint64_t longest_1 = 65535;

/// As Python writes a dict; a tuple of one has a comma behind it.
std::string dict(std::string_view type, Shape shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type, fmt::join(shape, ", "),
                       shape.size() == 1 ? "," : "");
}

std::uint64_t padded(std::uint64_t size, std::uint64_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

/// With room for the newline.
bool is_version_1(std::uint64_t dict_size, std::uint64_t alignment) {
    return padded(prefix_1 + dict_size + 1, alignment) - prefix_1 <= longest_1;
}

std::uint64_t size_with(std::uint64_t dict_size, std::uint64_t alignment) {
    return padded((is_version_1(dict_size, alignment) ? prefix_1 : prefix_2) + dict_size + 1, alignment);
}

}  // namespace

std::uint64_t npy_header_size(std::string_view type, Shape shape) {
    return size_with(dict(type, shape).size(), alignment_of(type, shape));
}

std::string npy_header(std::string_view type, Shape shape) {
    const std::string text = dict(type, shape);
    const std::uint64_t alignment = alignment_of(type, shape);
    const bool version_1 = is_version_1(text.size(), alignment);
    const std::uint64_t size = size_with(text.size(), alignment);

    std::string header = "\x93NUMPY";
    header += version_1 ? '\1' : '\2';
    header += '\0';
    append_little_endian(header, size - (version_1 ? prefix_1 : prefix_2), version_1 ? 2 : 4);
    header += text;
    header.append(size - header.size() - 1, ' ');
    header += '\n';
    return header;
}

}  // namespace tensorfs
