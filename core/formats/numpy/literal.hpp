#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tensorfs::numpy {

/// How many dimensions an array may have.
inline constexpr std::size_t most_dims = 64;

/// What is wrong with a literal.
struct LiteralError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The dict of an array's header, as it stands there.
struct HeaderDict {
    std::optional<std::string> descr;  // nothing where it is no text: a list of fields, or a pair
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
};

/// Parses the text of an array's header, by rules 2 and 3 of array_header.hpp. Throws LiteralError. Takes
/// memory for the answer alone, and a stack of bounded depth.
HeaderDict parse_header_dict(std::string_view text);

}  // namespace tensorfs::numpy
