#include "fs/command_line/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "core/formats/formats.hpp"

namespace tensorfs {
namespace {

constexpr std::size_t screen_width = 80;

/// A column of words and one of what they mean.
using Rows = std::vector<std::pair<std::string, std::string>>;

/// The words of a text; "[-o OPTION]" is one.
std::vector<std::string> words_of(std::string_view text) {
    std::istringstream in{std::string(text)};
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        const bool is_in_brackets =
            !words.empty() && words.back().front() == '[' && words.back().find(']') == std::string::npos;
        if (is_in_brackets) {
            words.back() += ' ' + word;
        } else {
            words.push_back(word);
        }
    }
    return words;
}

/// `text` behind what the first line begins with, further lines below its own beginning.
std::string wrapped(std::string line, std::string_view text) {
    const std::size_t indent = line.size();
    std::string all;
    for (const std::string& word : words_of(text)) {
        if (line.size() + word.size() > screen_width && line.size() > indent) {
            line.pop_back();
            all += line + '\n';
            line.assign(indent, ' ');
        }
        line += word + ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return all + line + '\n';
}

std::string in_columns(const Rows& rows) {
    std::size_t width = 0;
    for (const auto& [word, meaning] : rows) width = std::max(width, word.size());
    std::string text;
    for (const auto& [word, meaning] : rows) text += wrapped(fmt::format("  {:<{}}  ", word, width), meaning);
    return text;
}

/// "-f, --foreground", "--slice SLICE".
std::string spelling(const Flag& flag) {
    std::string text = flag.letter.empty() ? std::string(flag.name) : fmt::format("{}, {}", flag.letter, flag.name);
    return flag.value.name.empty() ? text : fmt::format("{} {}", text, flag.value.name);
}

/// A line for each mount option that the verb has a use for.
std::string option_help(const Verb& verb) {
    Rows rows;
    for (const MountOption& option : mount_options()) {
        if (verb.takes(option)) rows.emplace_back(spelling(option), option.help);
    }
    return fmt::format("\nOptions for {}, separated by commas; a comma in a value is written \\,\n", verb.list_flag) +
           in_columns(rows);
}

}  // namespace

std::string help(std::span<const Verb* const> all) {
    Rows verbs;
    for (const Verb* const verb : all) verbs.emplace_back(verb->name, verb->summary);
    const Rows rest{{"tensorfs VERB --help", "what a verb takes; for mounting: tensorfs mount --help"},
                    {"tensorfs --version", "the versions of tensorfs and libfuse"},
                    {"man tensorfs", "the manual, with examples"}};
    return "tensorfs shows a model as a folder: each tensor is a read-only file.\n\n"
           "Usage: tensorfs SOURCE MOUNTPOINT [-f] [-d] [-o OPTION[,OPTION...]]\n"
           "       tensorfs VERB ARGUMENTS\n" +
           wrapped("", fmt::format(
                           "SOURCE is a model's folder or file ({}), *.index.json, or an id in the Hugging Face Hub's "
                           "local cache.",
                           suffixes_of(formats()))) +
           "\nVerbs:\n" + in_columns(verbs) + '\n' + in_columns(rest);
}

std::string verb_help(const Verb& verb) {
    Rows rows;
    for (const Argument& argument : verb.arguments) rows.emplace_back(argument.value.name, argument.help);
    for (const Flag& flag : verb.flags) rows.emplace_back(spelling(flag), flag.help);
    rows.emplace_back(fmt::format("{} LIST", verb.list_flag), "options, as below");
    rows.emplace_back("-h, --help", "this text");
    return wrapped(fmt::format("Usage: tensorfs {} ", verb.name), usage(verb)) + '\n' + wrapped("", verb.summary) +
           '\n' + in_columns(rows) + option_help(verb) +
           (verb.about_options.empty() ? "" : wrapped("", verb.about_options));
}

}  // namespace tensorfs
