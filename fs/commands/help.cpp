#include "fs/commands/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

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

/// "-f, --foreground", "--slice SLICE", "SOURCE".
std::string spelling(const CLI::Option& option) {
    if (option.get_positional()) return option.get_name();
    std::string text;
    const auto add = [&](const std::string& dashes, const std::string& name) {
        text += (text.empty() ? "" : ", ") + dashes + name;
    };
    for (const std::string& name : option.get_snames()) add("-", name);
    for (const std::string& name : option.get_lnames()) add("--", name);
    if (option.get_type_size() != 0) text += ' ' + option.get_type_name();
    return text;
}

}  // namespace

std::string help() {
    Rows verbs;
    for (const Command& command : commands()) verbs.emplace_back(command.name, command.summary);
    const Rows rest{{"tensorfs mount --help", "all that mounting takes"},
                    {"tensorfs VERB --help", "all that a verb takes"},
                    {"tensorfs --version", "the versions of tensorfs and libfuse"},
                    {"man tensorfs", "the manual, with examples"}};
    return "tensorfs shows a safetensors model as a folder: each tensor is a read-only file.\n\n"
           "Usage: tensorfs SOURCE MOUNTPOINT [-f] [-d] [-o OPTION[,OPTION...]]\n"
           "       tensorfs VERB ARGUMENTS\n\n" +
           wrapped("",
                   "SOURCE is a model folder, a .safetensors file, an index (*.index.json) or the id of a model in the "
                   "Hugging Face Hub's local cache, such as org/name.") +
           "Unmount with `fusermount3 -u MOUNTPOINT`.\n\nVerbs:\n" + in_columns(verbs) + '\n' + in_columns(rest);
}

std::string verb_help(const CLI::App& app, const Command& command) {
    std::string text = wrapped(fmt::format("Usage: tensorfs {} ", command.name), command.synopsis) + '\n' +
                       wrapped("", command.summary) + '\n';
    Rows rows;
    for (const bool is_positional : {true, false}) {
        for (const CLI::Option* const option : app.get_options()) {
            if (option->get_positional() == is_positional) {
                rows.emplace_back(spelling(*option), option->get_description());
            }
        }
    }
    return text + in_columns(rows) + app.get_footer();
}

std::string option_help(bool (*is_wanted)(const MountOption&)) {
    Rows rows;
    for (const MountOption& option : mount_options()) {
        if (!is_wanted(option)) continue;
        rows.emplace_back(option.argument.empty() ? option.name : fmt::format("{}={}", option.name, option.argument),
                          option.help);
    }
    return "\nOptions for -o, separated by commas; a comma in a value is written \\,\n" + in_columns(rows);
}

}  // namespace tensorfs
