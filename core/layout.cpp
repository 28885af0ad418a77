#include "core/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "core/error.hpp"
#include "core/escape.hpp"
#include "core/natural_order.hpp"
#include "core/path.hpp"

namespace tensorfs {
namespace {

constexpr std::string_view shard_suffix = ".safetensors";

/// Cuts `suffix` off the end of `text` if it stands there.
bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

/// Cuts digits off the end of `text`; nothing if there are none or too many.
std::optional<unsigned long> take_number(std::string_view& text) {
    const std::size_t end = text.find_last_not_of("0123456789") + 1;
    const std::string_view digits = text.substr(end);
    unsigned long number = 0;
    if (digits.empty() || std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{})
        return std::nullopt;
    text.remove_suffix(digits.size());
    return number;
}

/// "BASE.VARIANT" to its two parts. A base may hold dots of its own; a variant does not.
void split_variant(std::string_view text, SetName& name) {
    const std::size_t dot = text.rfind('.');
    name.base = text.substr(0, dot);
    if (dot != std::string_view::npos) name.variant = text.substr(dot + 1);
}

/// A candidate: a set by its index, or by the names of its shards.
struct Candidate {
    SetName name;
    std::string index;                // file name; "" for a set without one
    std::vector<std::string> shards;  // without an index
    [[nodiscard]] const std::string& title() const { return index.empty() ? shards.front() : index; }
};

/// Whether an index of no telling name is one of ours: its weight map names .safetensors files.
bool names_shards(const std::string& path) {
    try {
        const Index index = Index::read(path);
        return !index.shards().empty();
    } catch (const Error&) {
        return false;
    }
}

std::vector<Candidate> indexed_sets(const std::string& folder, const std::vector<std::string>& names) {
    std::vector<Candidate> found;
    for (const std::string& name : names) {
        const std::optional<SetName> parts = parse_index_name(name);
        if (!parts) continue;
        const bool is_telling = name.find(".safetensors.") != std::string::npos;
        if (is_telling || names_shards(join_path(folder, name))) found.push_back({*parts, name, {}});
    }
    return found;
}

std::vector<Candidate> loose_sets(const std::vector<std::string>& names) {
    std::vector<Candidate> found;
    std::map<std::tuple<std::string, std::string, unsigned long>, std::size_t> numbers;
    for (const std::string& name : names) {
        std::optional<SetName> parts = parse_shard_name(name);
        if (!parts) continue;
        parts->number = 0;
        const auto [at, is_new] = numbers.try_emplace({parts->base, parts->variant, parts->count}, found.size());
        if (is_new) found.push_back({*parts, {}, {}});
        found[at->second].shards.push_back(name);
    }
    return found;
}

std::string list_of(const std::vector<Candidate>& candidates) {
    std::vector<std::string> titles;
    for (const Candidate& candidate : candidates) {
        std::string title = in_quotes(candidate.title());
        if (candidate.shards.size() > 1) title += fmt::format(" and {} more", candidate.shards.size() - 1);
        titles.push_back(std::move(title));
    }
    return fmt::format("{}", fmt::join(titles, ", "));
}

/// Narrows the candidates of one folder down to the set that is meant.
class Chooser {
public:
    Chooser(const std::string& folder, std::vector<Candidate> candidates, const Choice& choice)
        : folder_(folder), left_(std::move(candidates)), choice_(choice) {}

    Candidate choose() {
        choose_variant();
        prefer([](const Candidate& c) { return !c.index.empty(); });
        prefer_known_base();
        join_loose_files();
        if (left_.size() != 1) {
            throw Error({Kind::AmbiguousSource,
                         folder_,
                         {},
                         fmt::format("several models are there, and nothing says which is meant (-o index=NAME or -o "
                                     "variant=NAME does, or a path to one of them): {}",
                                     list_of(left_))});
        }
        return left_.front();
    }

    /// What was passed over, but for shards that are a part of what was not.
    [[nodiscard]] std::vector<std::string> notes(const std::vector<std::string>& shown) {
        std::erase_if(passed_over_, [&](const Candidate& c) {
            return c.index.empty() && std::find(shown.begin(), shown.end(), c.shards.front()) != shown.end();
        });
        if (passed_over_.empty()) return {};
        return {fmt::format("{} is shown; also there, and passed over: {}", in_quotes(left_.front().title()),
                            list_of(passed_over_))};
    }

private:
    /// Keeps those that `wanted` accepts, if there are any.
    template <typename Wanted>
    bool prefer(const Wanted& wanted) {
        if (std::none_of(left_.begin(), left_.end(), wanted)) return false;
        const auto rest = std::stable_partition(left_.begin(), left_.end(), wanted);
        passed_over_.insert(passed_over_.end(), std::make_move_iterator(rest), std::make_move_iterator(left_.end()));
        left_.erase(rest, left_.end());
        return true;
    }

    void choose_variant() {
        if (prefer([&](const Candidate& c) { return c.name.variant == choice_.variant; }) || choice_.variant.empty())
            return;
        throw Error({Kind::NoSuchSource,
                     folder_,
                     {},
                     fmt::format("it has no variant {}; there are: {}", in_quotes(choice_.variant), list_of(left_))});
    }

    void prefer_known_base() {
        constexpr std::array<std::string_view, 5> bases{"model", "diffusion_pytorch_model", "consolidated",
                                                        "adapter_model", "pytorch_lora_weights"};
        for (const std::string_view base : bases) {
            if (prefer([&](const Candidate& c) { return c.name.base == base; })) return;
        }
    }

    void join_loose_files() {
        std::set<std::string> bases;
        for (const Candidate& candidate : left_) {
            if (!candidate.index.empty() || !bases.insert(candidate.name.base + '.' + candidate.name.variant).second)
                return;
        }
        for (std::size_t i = 1; i < left_.size(); ++i) {
            left_[0].shards.insert(left_[0].shards.end(), left_[i].shards.begin(), left_[i].shards.end());
        }
        left_.resize(1);
    }

    const std::string& folder_;
    std::vector<Candidate> left_;
    std::vector<Candidate> passed_over_;
    const Choice& choice_;
};

/// The names of all shards of a split, also of those that are not there: these will be missed when
/// they are opened.
std::vector<std::string> complete(const std::vector<std::string>& shards) {
    constexpr unsigned long most = 100'000;
    std::set<std::string, decltype(&natural_less)> all(shards.begin(), shards.end(), natural_less);
    std::set<std::string> seen;
    for (const std::string& shard : shards) {
        const unsigned long count = parse_shard_name(shard)->count;
        if (count == 0 || count > most) continue;
        const std::size_t of = shard.rfind("-of-");
        const std::size_t dash = shard.rfind('-', of - 1);
        const std::string beginning = shard.substr(0, dash + 1);
        if (!seen.insert(beginning).second) continue;
        const std::size_t digits = of - dash - 1;
        for (unsigned long number = 1; number <= count; ++number) {
            all.insert(fmt::format("{}{:0{}}{}", beginning, number, digits, shard.substr(of)));
        }
    }
    return {all.begin(), all.end()};
}

ShardSet with_index(const std::string& folder, const std::string& name) {
    ShardSet set;
    set.index_name = name;
    set.index = Index::read(join_path(folder, name));
    set.shards = set.index->shards();
    return set;
}

}  // namespace

std::optional<SetName> parse_shard_name(std::string_view name) {
    if (name.starts_with('.') || !take_suffix(name, shard_suffix) || name.empty()) return std::nullopt;
    SetName parts;
    std::string_view rest = name;
    if (const auto count = take_number(rest); count && take_suffix(rest, "-of-")) {
        if (const auto number = take_number(rest); number && take_suffix(rest, "-") && !rest.empty()) {
            name = rest;
            parts.number = *number;
            parts.count = *count;
        }
    }
    split_variant(name, parts);
    return parts;
}

std::optional<SetName> parse_index_name(std::string_view name) {
    if (name.starts_with('.') || !take_suffix(name, ".json")) return std::nullopt;
    if (name.find(".bin.index") != std::string_view::npos) return std::nullopt;
    SetName parts;
    std::string_view rest = name;
    if (take_suffix(rest, ".safetensors.index")) {  // BASE[.VARIANT].safetensors.index
        split_variant(rest, parts);
    } else if (const std::size_t at = name.find(".safetensors.index."); at != std::string_view::npos) {
        parts.base = name.substr(0, at);  // BASE.safetensors.index.VARIANT
        parts.variant = name.substr(at + std::string_view(".safetensors.index.").size());
    } else if (!take_suffix(rest, ".index")) {
        return std::nullopt;
    } else if (const std::size_t middle = rest.find(".safetensors."); middle != std::string_view::npos) {
        parts.base = rest.substr(0, middle);  // BASE.safetensors.VARIANT.index
        parts.variant = rest.substr(middle + std::string_view(".safetensors.").size());
    } else {
        split_variant(rest, parts);
    }
    if (parts.base.empty()) return std::nullopt;
    return parts;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::string name = at->path().filename().string();
        if (!name.starts_with('.')) names.push_back(std::move(name));
    }
    if (error) throw Error(system_problem(folder, "cannot list the folder", error.value()));
    std::sort(names.begin(), names.end(), natural_less);
    return names;
}

std::optional<ShardSet> find_shards(const std::string& folder, const std::vector<std::string>& names,
                                    const Choice& choice) {
    if (!choice.index.empty()) {
        if (std::find(names.begin(), names.end(), choice.index) == names.end()) {
            throw Error({Kind::NoSuchSource, folder, {}, "it has no index " + in_quotes(choice.index)});
        }
        return with_index(folder, choice.index);
    }
    std::vector<Candidate> candidates = indexed_sets(folder, names);
    const bool has_index = !candidates.empty();
    // With an index, its own shards are no other set: they are told apart by what the index names,
    // or, cheaper and as sure, by base and variant.
    for (Candidate& loose : loose_sets(names)) {
        const bool is_indexed =
            has_index && std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
                return !c.index.empty() && c.name.base == loose.name.base && c.name.variant == loose.name.variant;
            });
        if (!is_indexed) candidates.push_back(std::move(loose));
    }
    if (candidates.empty()) return std::nullopt;

    Chooser chooser(folder, std::move(candidates), choice);
    const Candidate chosen = chooser.choose();
    ShardSet set;
    if (chosen.index.empty()) {
        set.shards = complete(chosen.shards);
    } else {
        set = with_index(folder, chosen.index);
    }
    set.notes = chooser.notes(set.shards);
    return set;
}

}  // namespace tensorfs
