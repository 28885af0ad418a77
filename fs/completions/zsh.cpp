#include "fs/completions/zsh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tensorfs {
namespace {

/// A word between single quotes.
std::string in_single_quotes(std::string_view word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + '\'';
}

/// A line of help, as it stands between brackets in what _arguments and _values take.
std::string in_brackets(std::string_view help) {
    std::string text = "[";
    for (const char c : help) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') text += '\\';
        text += c;
    }
    return text + ']';
}

std::string action_of(const Value& value) {
    if (!value.choices.empty()) {
        std::string words(value.choices);
        std::replace(words.begin(), words.end(), '|', ' ');
        return fmt::format("({})", words);
    }
    switch (value.completes) {
        case Completes::nothing: return " ";
        case Completes::folder: return "_files -/";
        case Completes::file: return "_files";
        case Completes::source: return "_tensorfs_sources";
        case Completes::tensor: return "_tensorfs_names";
        case Completes::pattern: return "_tensorfs_names -p";
        case Completes::index: return "($indexes)";
        case Completes::revision: return "($revisions)";
    }
    return {};
}

/// ":format:(raw npy)", or nothing where no value is taken.
std::string value_of(const Value& value) {
    if (value.name.empty()) return {};
    std::string message(value.name);
    std::transform(message.begin(), message.end(), message.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return fmt::format(":{}:{}", message, action_of(value));
}

/// What _arguments takes for a flag: a word for each spelling, before which the flags stand that exclude it.
std::string flag_words(const Verb& verb, const Flag& flag) {
    std::string others;
    for (const Flag& other : verb.flags) {
        if (flag.excludes == other.name || other.excludes == flag.name) others += fmt::format(" {}", other.name);
    }
    std::string text;
    for (const std::string_view spelled : {flag.letter, flag.name}) {
        if (spelled.empty()) continue;
        std::string excluded = others;
        if (!flag.letter.empty()) excluded = fmt::format(" {} {}{}", flag.letter, flag.name, others);
        if (!excluded.empty()) excluded = fmt::format("({})", excluded.substr(1));
        const bool is_letter = spelled == flag.letter;
        text += "            " +
                in_single_quotes(fmt::format("{}{}{}{}{}{}", excluded, flag.is_repeated ? "*" : "", spelled,
                                             flag.value.name.empty() ? ""
                                             : is_letter             ? "+"
                                                                     : "=",
                                             in_brackets(flag.help), value_of(flag.value))) +
                '\n';
    }
    return text;
}

}  // namespace

std::string zsh_verbs(std::span<const Verb* const> verbs) {
    std::string text;
    for (const Verb* const verb : verbs)
        text += "    " + in_single_quotes(fmt::format("{}:{}", verb->name, verb->summary)) + '\n';
    return text;
}

std::string zsh_verb_arms(std::span<const Verb* const> verbs, std::span<const MountOption> options) {
    std::string text;
    for (const Verb* const verb : verbs) {
        text += fmt::format("    {})\n        flags=(\n", verb->name);
        std::string awaiting;
        for (const Flag& flag : verb->flags) {
            text += flag_words(*verb, flag);
            if (flag.value.name.empty()) continue;
            if (!flag.letter.empty()) awaiting += fmt::format(" {}", flag.letter);
            awaiting += fmt::format(" {}", flag.name);
        }
        text += fmt::format("        )\n        list_flag={0} awaiting=({0}{1})\n        actions=(", verb->list_flag,
                            awaiting);
        std::string further;
        for (const Argument& argument : verb->arguments) {
            const std::string action = in_single_quotes(action_of(argument.value));
            if (argument.is_repeated)
                further = action;
            else
                text += fmt::format("{}{}", text.back() == '(' ? "" : " ", action);
        }
        text += fmt::format(")\n        further={}\n        list_options=(\n", further);
        for (const MountOption& option : options) {
            if (!verb->takes(option)) continue;
            text +=
                "            " +
                in_single_quotes(fmt::format("{}{}{}", option.name, in_brackets(option.help), value_of(option.value))) +
                '\n';
        }
        text += "        )\n        ;;\n";
    }
    return text;
}

}  // namespace tensorfs
