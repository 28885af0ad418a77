#include "fs/command_line/verb.hpp"

#include <fmt/format.h>

namespace tensorfs {
namespace {

/// "SOURCE|MOUNTPOINT", "[PATTERN...]".
std::string spelling(const Argument& argument) {
    std::string text(argument.value.name);
    if (!argument.alternative.empty()) text += fmt::format("|{}", argument.alternative);
    if (argument.is_repeated) text += "...";
    return argument.is_required ? text : fmt::format("[{}]", text);
}

/// "--json", "-f", "--format raw|npy".
std::string spelling(const Flag& flag) {
    std::string text(flag.letter.empty() ? flag.name : flag.letter);
    const std::string_view value = flag.value.choices.empty() ? flag.value.name : flag.value.choices;
    return value.empty() ? text : fmt::format("{} {}", text, value);
}

}  // namespace

std::string usage(const Verb& verb) {
    std::string text;
    for (const Argument& argument : verb.arguments) text += spelling(argument) + ' ';
    for (const Flag& flag : verb.flags) {
        if (flag.is_required) {
            text += spelling(flag) + ' ';
        } else if (flag.excludes.empty()) {
            text += fmt::format("[{}]{} ", spelling(flag), flag.is_repeated ? "..." : "");
        } else {
            text.replace(text.size() - 2, 2, fmt::format("|{}] ", spelling(flag)));
        }
    }
    return text + fmt::format("[{} LIST]", verb.list_flag);
}

}  // namespace tensorfs
