#include "core/sources/chooser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"

namespace tensorfs {
namespace {

std::string title_of(const Candidate& candidate) {
    std::string title = in_quotes(candidate.title());
    if (candidate.shards.size() > 1) title += fmt::format(" and {} more", candidate.shards.size() - 1);
    return title;
}

std::string list_of(const std::vector<Candidate>& candidates) {
    std::vector<std::string> titles;
    for (const Candidate& candidate : candidates) titles.push_back(title_of(candidate));
    return fmt::format("{}", fmt::join(titles, ", "));
}

}  // namespace

template <typename Wanted>
bool Chooser::prefer(const Wanted& wanted) {
    if (std::none_of(left_.begin(), left_.end(), wanted)) return false;
    const auto rest = std::stable_partition(left_.begin(), left_.end(), wanted);
    passed_over_.insert(passed_over_.end(), std::make_move_iterator(rest), std::make_move_iterator(left_.end()));
    left_.erase(rest, left_.end());
    return true;
}

Candidate Chooser::choose() {
    prefer([](const Candidate& c) { return !c.is_sidecar; });
    choose_variant();
    prefer_first_format();
    prefer_plain();
    prefer([](const Candidate& c) { return c.has_index(); });
    prefer_known_base();
    join_loose_files();
    check_only_one();
    return std::move(left_.front());
}

void Chooser::choose_variant() {
    const std::string& wanted = choice_.variant;
    if (wanted.empty() || prefer([&](const Candidate& c) { return c.is_of(wanted); })) return;
    throw Error({Kind::NoSuchSource,
                 folder_,
                 {},
                 fmt::format("it has no variant {}; there are: {}", in_quotes(wanted), list_of(left_))});
}

void Chooser::prefer_first_format() {
    // The formats are rows of one table, in the order of preference.
    const auto first = std::min_element(left_.begin(), left_.end(),
                                        [](const Candidate& a, const Candidate& b) { return a.format < b.format; });
    const Format* const format = first->format;
    prefer([&](const Candidate& c) { return c.format == format; });
}

void Chooser::prefer_plain() {
    if (!choice_.variant.empty() || left_.front().format->files.variants == Variants::quantisations) return;
    prefer([](const Candidate& c) { return c.name.variant.empty(); });
}

void Chooser::prefer_known_base() {
    for (const std::string_view base : left_.front().format->files.bases) {
        if (prefer([&](const Candidate& c) { return c.name.base == base; })) return;
    }
}

void Chooser::join_loose_files() {
    const auto is_loose = [](const Candidate& c) {
        const std::string_view suffix = c.format->files.joined;
        return !suffix.empty() && !c.has_index() && c.name.count == 0 && c.name.variant.empty() &&
               c.shards.front().ends_with(suffix);
    };
    if (!std::all_of(left_.begin(), left_.end(), is_loose)) return;
    for (std::size_t i = 1; i < left_.size(); ++i) {
        left_[0].shards.insert(left_[0].shards.end(), left_[i].shards.begin(), left_[i].shards.end());
    }
    left_.erase(left_.begin() + 1, left_.end());
}

void Chooser::check_only_one() const {
    if (left_.size() != 1) {
        throw Error({Kind::AmbiguousSource,
                     folder_,
                     {},
                     fmt::format("several models are there, and nothing says which is meant (-o index=NAME or -o "
                                 "variant=NAME does, or a path to one of them): {}",
                                 list_of(left_))});
    }
    if (left_.front().is_in_pieces) {
        throw Error({Kind::DuplicateName,
                     folder_,
                     {},
                     fmt::format("{}: each file has a piece of every tensor, under the same names, and how the pieces "
                                 "fit together is not in them; a path to one of them shows its pieces",
                                 list_of(left_))});
    }
}

/// Whether at least one of its files is there. Often an index of another format is downloaded without its shards.
bool Chooser::is_there(const Candidate& candidate) const {
    if (!candidate.has_index() || !candidate.index) return true;
    const std::vector<std::string>& shards = candidate.index->shards();
    return std::any_of(names_.begin(), names_.end(),
                       [&](const std::string& name) { return std::binary_search(shards.begin(), shards.end(), name); });
}

std::vector<std::string> Chooser::notes(const Candidate& shown) const {
    std::vector<std::string> worth_a_word;
    for (const Candidate& passed_over : passed_over_) {
        if (passed_over.format == shown.format || is_there(passed_over)) worth_a_word.push_back(title_of(passed_over));
    }
    if (worth_a_word.empty()) return {};
    return {fmt::format("{} is shown; also there, and passed over: {}", in_quotes(shown.title()),
                        fmt::join(worth_a_word, ", "))};
}

std::string Chooser::instead_of(const Candidate& shown) const {
    const auto is_whole = [&](const Candidate& c) {
        return !c.has_index() && c.name.count == 0 && c.shards.size() == 1 && !c.is_sidecar &&
               c.name.variant == shown.name.variant;
    };
    const auto found = std::find_if(passed_over_.begin(), passed_over_.end(), is_whole);
    return found == passed_over_.end() ? std::string() : found->shards.front();
}

}  // namespace tensorfs
