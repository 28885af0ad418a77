#include "fs/terminal/quantity_text.hpp"

#include <fmt/format.h>

#include <array>

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

}  // namespace tensorfs
