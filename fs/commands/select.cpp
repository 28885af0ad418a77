#include "fs/commands/select.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include "core/escape.hpp"
#include "fs/terminal.hpp"

namespace tensorfs {

bool matches(std::string_view full_name, const std::string& pattern) {
    // A name with a NUL in it is matched up to there: no pattern that can be typed holds one.
    return ::fnmatch(pattern.c_str(), std::string(full_name).c_str(), 0) == 0;
}

std::vector<std::uint32_t> select_tensors(const Model& model, const std::vector<std::string>& patterns) {
    std::vector<std::uint32_t> selected;
    std::vector<bool> has_match(patterns.size());
    for (std::uint32_t i = 0; i < model.tensors().size(); ++i) {
        bool is_selected = patterns.empty();
        for (std::size_t p = 0; p < patterns.size(); ++p) {
            if (!matches(model.tensors()[i].full_name(), patterns[p])) continue;
            is_selected = has_match[p] = true;
        }
        if (is_selected) selected.push_back(i);
    }
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        if (has_match[p]) continue;
        throw Failure(ExitCode::no_source, fmt::format("no tensor's name matches \"{}\"", printable(patterns[p])));
    }
    return selected;
}

}  // namespace tensorfs
