#include "core/formats/numpy/array_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tensorfs::numpy {
namespace {

struct Shown {
    char letter;
    std::uint64_t nbytes;
    Dtype dtype;
};

constexpr std::array<Shown, 16> shown{{
    {'b', 1, Dtype::BOOL},
    {'i', 1, Dtype::I8},
    {'i', 2, Dtype::I16},
    {'i', 4, Dtype::I32},
    {'i', 8, Dtype::I64},
    {'u', 1, Dtype::U8},
    {'u', 2, Dtype::U16},
    {'u', 4, Dtype::U32},
    {'u', 8, Dtype::U64},
    {'f', 1, Dtype::F8_E5M2},
    {'f', 2, Dtype::F16},
    {'f', 4, Dtype::F32},
    {'f', 8, Dtype::F64},
    {'c', 8, Dtype::C64},
    {'V', 1, Dtype::U8},
    {'V', 2, Dtype::BF16},
}};

/// Types that NumPy has, but safetensors has no name for; "" where NumPy has none either.
std::string_view known(char letter, std::uint64_t nbytes) {
    switch (letter) {
        case 'f': return nbytes == 10 || nbytes == 12 || nbytes == 16 ? "long double" : "";
        case 'c': return nbytes == 16 ? "complex128" : nbytes >= 20 && nbytes <= 32 ? "complex long double" : "";
        case 'S':
        case 'a':
        case 'U': return "text";
        case 'V': return "opaque elements";
        case 'M':
        case 'm': return nbytes == 8 ? "times" : "";
        default: return "";
    }
}

bool is_time(char letter) { return letter == 'M' || letter == 'm'; }

}  // namespace

std::optional<ArrayType> parse_array_type(std::string_view descr) {
    char order = '=';
    if (!descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) {
        order = descr.front();
        descr.remove_prefix(1);
    }
    if (descr == "?") descr = "b1";
    if (descr.empty()) return std::nullopt;
    const char letter = descr.front();
    descr.remove_prefix(1);
    if (letter == 'O') {
        if (!descr.empty() && descr != "4" && descr != "8") return std::nullopt;
        return ArrayType{{}, "objects, as a pickle", 0};
    }
    std::uint64_t nbytes = 0;
    const auto [end, error] = std::from_chars(descr.data(), descr.data() + descr.size(), nbytes);
    if (error != std::errc()) return std::nullopt;
    const std::string_view unit = descr.substr(static_cast<std::size_t>(end - descr.data()));
    // Times have a unit, such as [ns] or [25s], which does not matter here.
    if (!unit.empty() && !(is_time(letter) && unit.starts_with('[') && unit.ends_with(']'))) return std::nullopt;

    const auto* const found = std::find_if(
        shown.begin(), shown.end(), [&](const Shown& type) { return type.letter == letter && type.nbytes == nbytes; });
    if (found == shown.end()) {
        const std::string_view what = known(letter, nbytes);
        if (what.empty()) return std::nullopt;
        const std::uint64_t units = letter == 'U' ? 4 : 1;  // characters of 32 bits
        if (nbytes > UINT64_MAX / units) return std::nullopt;
        return ArrayType{{}, std::string(what), nbytes * units};
    }
    if (order == '>' && nbytes > 1 && letter != 'V') return ArrayType{{}, "big-endian", nbytes};
    return ArrayType{found->dtype, {}, nbytes};
}

}  // namespace tensorfs::numpy
