#include "fs/terminal/quantity_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <system_error>

namespace tensorfs {

std::string with_commas(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
    return digits;
}

std::string counted(std::uint64_t number, std::string_view noun) {
    return fmt::format("{} {}{}", with_commas(number), noun, number == 1 ? "" : "s");
}

std::string human_bytes(std::uint64_t bytes) {
    if (bytes < 1000) return fmt::format("{} bytes", bytes);
    constexpr std::array<const char*, 6> units{"kB", "MB", "GB", "TB", "PB", "EB"};
    double value = static_cast<double>(bytes) / 1000;
    std::size_t unit = 0;
    while (value >= 999.95 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    return fmt::format("{:.1f} {}", value, units[unit]);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    constexpr std::string_view letters = "KMGT";
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [unit_at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc()) return std::nullopt;
    const std::string_view unit(unit_at, static_cast<std::size_t>(end - unit_at));
    if (unit.empty()) return number;
    const std::size_t power = letters.find(unit.front());
    const bool is_binary = unit.substr(1) == "iB";
    if (power == std::string_view::npos || (!is_binary && unit.substr(1) != "B")) return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) {
        if (__builtin_mul_overflow(number, is_binary ? 1024U : 1000U, &number)) return std::nullopt;
    }
    return number;
}

}  // namespace tensorfs
