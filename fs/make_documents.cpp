// make_documents TEMPLATE OUTPUT: writes the manual or a completion, from its template and the program's tables of
// verbs, mount options and formats. The build runs it.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>

#include "core/formats/formats.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/completions/bash.hpp"
#include "fs/completions/zsh.hpp"
#include "fs/man/manual.hpp"
#include "fs/options/mount_option.hpp"

namespace {

using namespace tensorfs;

/// How the files end that SOURCE can be, as alternatives of a shell's pattern.
std::string model_suffixes() {
    std::string suffixes;
    for (const Format& format : formats()) {
        for (const std::string_view suffix : format.files.suffixes) suffixes += fmt::format("{}|", suffix.substr(1));
        if (const std::string_view shared = format.files.shared_suffix; !shared.empty())
            suffixes += fmt::format("{}|", shared.substr(1));
    }
    return suffixes + "json";
}

std::map<std::string, std::string> parts() {
    return {
        {"MANUAL_VERBS", manual_of_verbs(verbs())},
        {"MANUAL_OPTIONS", manual_of_options(mount_options())},
        {"MANUAL_SOURCE_OPTIONS", manual_of_source_options(mount_options())},
        {"BASH_VERBS", bash_verbs(verbs())},
        {"BASH_VERB_ARMS", bash_verb_arms(verbs(), mount_options())},
        {"BASH_VALUE_ARMS", bash_value_arms(verbs(), mount_options())},
        {"MODEL_SUFFIXES", model_suffixes()},
        {"ZSH_VERBS", zsh_verbs(verbs())},
        {"ZSH_VERB_ARMS", zsh_verb_arms(verbs(), mount_options())},
    };
}

/// The template with the parts in place of their names, such as @MANUAL_VERBS@. A part that is alone on its line
/// takes the whole line.
std::string fill(std::string_view text) {
    const std::map<std::string, std::string> known = parts();
    const std::regex place("@([A-Z_]+)@");
    std::string filled;
    std::cmatch found;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (; std::regex_search(at, end, found, place); at = found[0].second) {
        const auto part = known.find(found[1]);
        if (part == known.end()) throw std::runtime_error(fmt::format("nothing is known of {}", found[0].str()));
        filled.append(at, found[0].first).append(part->second);
        if (part->second.ends_with('\n')) filled.pop_back();  // the template's own follows
    }
    return filled.append(at, end);
}

void make(const char* source, const char* target) {
    std::ifstream in(source, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (in.bad() || text.empty()) throw std::runtime_error(fmt::format("cannot read {}", source));
    std::ofstream out(target, std::ios::binary);
    out << fill(text) << std::flush;
    if (!out) throw std::runtime_error(fmt::format("cannot write {}", target));
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) throw std::runtime_error("usage: make_documents TEMPLATE OUTPUT");
    make(argv[1], argv[2]);
} catch (const std::exception& e) {
    fmt::print(stderr, "make_documents: {}\n", e.what());
    return 1;
}
