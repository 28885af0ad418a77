#include "core/views/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/little_endian.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t least_alignment = 64;  // which the format asks for

/// Of an array without elements only the header can be mapped, so that must not end with a page.
std::uint64_t alignment_of(Shape shape) {
    return std::find(shape.begin(), shape.end(), 0U) == shape.end() ? page : least_alignment;
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
    return size_with(dict(type, shape).size(), alignment_of(shape));
}

std::string npy_header(std::string_view type, Shape shape) {
    const std::string text = dict(type, shape);
    const std::uint64_t alignment = alignment_of(shape);
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
