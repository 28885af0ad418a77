#include "fs/printing/patterns.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include "core/base/escape.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {

bool Patterns::select(std::string_view full_name) {
    if (patterns_.empty()) return true;
    // A name that holds NUL is matched up to there: no pattern that can be typed holds one.
    const std::string name(full_name);
    bool is_selected = false;
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
        if (::fnmatch(patterns_[p].c_str(), name.c_str(), 0) == 0) is_selected = has_match_[p] = true;
    }
    return is_selected;
}

void Patterns::check_all_matched() const {
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
        if (has_match_[p]) continue;
        throw Failure(ExitCode::no_source, fmt::format("no tensor's name matches \"{}\"", printable(patterns_[p])));
    }
}

std::vector<std::uint32_t> select_tensors(const Model& model, const std::vector<std::string>& patterns) {
    Patterns wanted(patterns);
    std::vector<std::uint32_t> selected;
    for (std::uint32_t i = 0; i < model.tensors().size(); ++i) {
        if (wanted.select(model.tensors()[i].full_name())) selected.push_back(i);
    }
    wanted.check_all_matched();
    return selected;
}

}  // namespace tensorfs
