#include "fs/man/manual.hpp"

#include <fmt/format.h>

#include <vector>

namespace tensorfs {
namespace {

/// A text of a table as lines of the manual.
std::string lines(std::string_view text) { return text.empty() ? "" : fmt::format("{}\n", text); }

std::string head(const Argument& argument) {
    std::string text = fmt::format("Ar {}", argument.value.name);
    if (!argument.alternative.empty()) text += fmt::format(" | {}", argument.alternative);
    if (argument.is_repeated) text += " ...";
    return argument.is_required ? fmt::format(".{}\n", text) : fmt::format(".Op {}\n", text);
}

std::string head(const Flag& flag) {
    const std::string_view spelled = flag.letter.empty() ? flag.name : flag.letter;
    const std::string text = fmt::format("Fl {}", spelled.substr(1));
    return flag.value.name.empty() ? text : fmt::format("{} Ar {}", text, flag.value.name);
}

std::string head(const Verb& verb) {
    std::string text = fmt::format(".It Xo\n.Cm {}\n", verb.name);
    for (const Argument& argument : verb.arguments) text += head(argument);
    for (const Flag& flag : verb.flags) {
        if (flag.is_required) {
            text += fmt::format(".{}\n", head(flag));
        } else if (flag.excludes.empty()) {
            text += fmt::format(".Op {}{}\n", head(flag), flag.is_repeated ? " Ns ..." : "");
        } else {
            text.insert(text.size() - 1, fmt::format(" | {}", head(flag)));
        }
    }
    return text + fmt::format(".Op Fl {} Ar LIST\n.Xc\n", verb.list_flag.substr(1));
}

}  // namespace

std::string manual_of_verbs(std::span<const Verb* const> verbs) {
    std::string text;
    for (const Verb* const verb : verbs) {
        text += head(*verb) + lines(verb->manual);
        for (const Argument& argument : verb->arguments) text += lines(argument.manual);
        for (const Flag& flag : verb->flags) text += lines(flag.manual);
    }
    return text;
}

std::string manual_of_options(std::span<const MountOption> options) {
    std::string text;
    for (const MountOption& option : options) {
        text += fmt::format(".It Cm {}", option.name);
        if (!option.value.name.empty()) text += fmt::format(" Ns = Ns Ar {}", option.value.name);
        text += '\n' + lines(option.manual);
    }
    return text;
}

std::string manual_of_source_options(std::span<const MountOption> options) {
    std::vector<std::string_view> names;
    for (const MountOption& option : options) {
        if (option.is_of_source) names.push_back(option.name);
    }
    std::string text = ".Cm";
    for (std::size_t i = 0; i + 1 < names.size(); ++i) text += fmt::format("{} {}", i == 0 ? "" : " ,", names[i]);
    return text + fmt::format("\nand\n.Cm {}\n", names.back());
}

}  // namespace tensorfs
