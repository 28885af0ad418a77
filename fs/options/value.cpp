#include "fs/options/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/escape.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {

std::vector<std::string_view> choices_of(const Value& value) {
    std::vector<std::string_view> words;
    for (std::string_view rest = value.choices; !rest.empty();) {
        const std::size_t end = std::min(rest.find('|'), rest.size());
        words.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return words;
}

void check_choice(const Value& value, std::string_view text, std::string_view where) {
    const std::vector<std::string_view> words = choices_of(value);
    if (words.empty() || std::find(words.begin(), words.end(), text) != words.end()) return;
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i) {
        list += i == 0 ? "" : i + 1 < words.size() ? ", " : " and ";
        list += words[i];
    }
    throw Failure(ExitCode::usage, fmt::format("{} \"{}\" is not one of {}", where, printable(text), list));
}

}  // namespace tensorfs
