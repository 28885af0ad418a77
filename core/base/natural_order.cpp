#include "core/base/natural_order.hpp"

namespace tensorfs {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Cuts the run of digits at the front of `text` off it, without the run's leading zeros.
std::string_view take_number(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::string_view number = text.substr(0, end);
    text.remove_prefix(end);
    while (!number.empty() && number.front() == '0') number.remove_prefix(1);
    return number;
}

}  // namespace

int natural_compare(std::string_view a, std::string_view b) {
    std::string_view left = a;
    std::string_view right = b;
    while (!left.empty() && !right.empty()) {
        if (is_digit(left.front()) && is_digit(right.front())) {
            const std::string_view x = take_number(left);
            const std::string_view y = take_number(right);
            if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
            if (const int order = x.compare(y); order != 0) return order;
            continue;
        }
        if (left.front() != right.front()) {
            return static_cast<unsigned char>(left.front()) < static_cast<unsigned char>(right.front()) ? -1 : 1;
        }
        left.remove_prefix(1);
        right.remove_prefix(1);
    }
    if (left.empty() != right.empty()) return left.empty() ? -1 : 1;
    return a.compare(b);
}

}  // namespace tensorfs
