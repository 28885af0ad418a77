#include "fs/completions/bash.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tensorfs {
namespace {

void add_word(std::string& words, std::string_view word) {
    words += fmt::format("{}{}", words.empty() ? "" : " ", word);
}

/// The name by which the template knows what completes a value.
std::string_view name_of(Completes what) {
    switch (what) {
        case Completes::nothing: return "nothing";
        case Completes::folder: return "folders";
        case Completes::file: return "files";
        case Completes::source: return "sources";
        case Completes::tensor: return "names";
        case Completes::pattern: return "patterns";
        case Completes::index: return "indexes";
        case Completes::revision: return "revisions";
    }
    return {};
}

std::string value_arm(std::string_view pattern, const Value& value) {
    std::string words = value.choices.empty() ? std::string(name_of(value.completes)) : std::string(value.choices);
    std::replace(words.begin(), words.end(), '|', ' ');
    return fmt::format("        {}) {}=\"{}\" ;;\n", pattern, value.choices.empty() ? "kind" : "choices", words);
}

bool has_arm(const Value& value) { return !value.choices.empty() || value.completes != Completes::nothing; }

}  // namespace

std::string bash_verbs(std::span<const Verb* const> verbs) {
    std::string words;
    for (const Verb* const verb : verbs) add_word(words, verb->name);
    return words;
}

std::string bash_verb_arms(std::span<const Verb* const> verbs, std::span<const MountOption> options) {
    std::string text;
    for (const Verb* const verb : verbs) {
        std::string flags;
        std::string awaiting;
        std::string kinds;
        std::string further;
        std::string names;
        for (const Flag& flag : verb->flags) {
            if (!flag.letter.empty()) add_word(flags, flag.letter);
            add_word(flags, flag.name);
            if (flag.value.name.empty()) continue;
            if (!flag.letter.empty()) add_word(awaiting, flag.letter);
            add_word(awaiting, flag.name);
        }
        for (const Argument& argument : verb->arguments) {
            if (argument.is_repeated)
                further = name_of(argument.value.completes);
            else
                add_word(kinds, name_of(argument.value.completes));
        }
        for (const MountOption& option : options) {
            if (verb->takes(option))
                add_word(names, fmt::format("{}{}", option.name, option.value.name.empty() ? "" : "="));
        }
        text += fmt::format(
            "        {})\n            flags=\"{}\" awaiting=\"{}\" kinds=({}) further=\"{}\"\n"
            "            list_flag={} list_options=\"{}\"\n            ;;\n",
            verb->name, flags, awaiting, kinds, further, verb->list_flag, names);
    }
    return text;
}

std::string bash_value_arms(std::span<const Verb* const> verbs, std::span<const MountOption> options) {
    std::string text;
    for (const Verb* const verb : verbs) {
        for (const Flag& flag : verb->flags) {
            if (!has_arm(flag.value)) continue;
            const std::string letter = flag.letter.empty() ? "" : fmt::format("{}:{} | ", verb->name, flag.letter);
            text += value_arm(fmt::format("{}{}:{}", letter, verb->name, flag.name), flag.value);
        }
    }
    for (const MountOption& option : options) {
        if (has_arm(option.value)) text += value_arm(fmt::format("*:{}", option.name), option.value);
    }
    return text;
}

}  // namespace tensorfs
