#pragma once

#include <cstdint>
#include <variant>

namespace tensorfs {

/// A number exactly as its type has it: a float (or a magnitude, of C64), a signed integer, or an unsigned one or BOOL.
using Number = std::variant<double, std::int64_t, std::uint64_t>;

inline double to_double(const Number& number) {
    return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

/// By value: of one type exactly, of two as doubles.
inline bool is_less(const Number& a, const Number& b) {
    return a.index() == b.index() ? a < b : to_double(a) < to_double(b);
}

}  // namespace tensorfs
