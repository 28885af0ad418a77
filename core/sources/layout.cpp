#include "core/sources/layout.hpp"

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

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/natural_order.hpp"
#include "core/base/path.hpp"

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

/// The words that are variants behind a base: precisions, and which weights of a training they are.
constexpr std::array<std::string_view, 17> variant_words{"fp8",  "fp16", "fp32", "bf16", "f8",     "f16",
                                                         "f32",  "int4", "int8", "nf4",  "fp4",    "4bit",
                                                         "8bit", "q4",   "q8",   "ema",  "non_ema"};

/// "BASE.VARIANT" to its two parts. Only a well-known word is a variant: in "model.layers.0" the rest
/// is a part of the base.
void split_variant(std::string_view text, SetName& name) {
    const std::size_t dot = text.rfind('.');
    const bool has_variant = dot != std::string_view::npos && std::find(variant_words.begin(), variant_words.end(),
                                                                        text.substr(dot + 1)) != variant_words.end();
    name.base = text.substr(0, has_variant ? dot : text.size());
    if (has_variant) name.variant = text.substr(dot + 1);
}

/// Any word is a variant if it is asked for.
bool is_of(const SetName& name, std::string_view variant) {
    if (name.variant == variant) return true;
    return !variant.empty() && name.base.size() > variant.size() && name.base.ends_with(variant) &&
           name.base[name.base.size() - variant.size() - 1] == '.';
}

/// A candidate: a set by its index, or by the names of its shards.
struct Candidate {
    SetName name;
    std::string index_name;           // file name; "" for a set without one
    std::optional<Index> index;       // nothing if it could not be read
    std::vector<std::string> shards;  // without an index
    [[nodiscard]] bool has_index() const { return !index_name.empty(); }
    [[nodiscard]] const std::string& title() const { return has_index() ? index_name : shards.front(); }
    /// Whether a shard is one of those that the index names; by its name where that is not known.
    [[nodiscard]] bool names(const std::string& shard) const {
        if (index) return std::binary_search(index->shards().begin(), index->shards().end(), shard);
        const std::optional<SetName> parts = parse_shard_name(shard);
        return has_index() && parts && parts->base == name.base && parts->variant == name.variant;
    }
};

/// The index at `path`, or nothing: what is wrong with it is told when it is chosen.
std::optional<Index> try_to_read(const std::string& path) {
    try {
        return Index::read(path);
    } catch (const Error&) {
        return std::nullopt;
    }
}

std::vector<Candidate> indexed_sets(const std::string& folder, const std::vector<std::string>& names) {
    std::vector<Candidate> found;
    for (const std::string& name : names) {
        const std::optional<SetName> parts = parse_index_name(name);
        if (!parts) continue;
        Candidate candidate{*parts, name, try_to_read(join_path(folder, name)), {}};
        // Where the name does not tell, the weight map does: it names .safetensors files.
        const bool is_telling = name.find(".safetensors.") != std::string::npos;
        const bool names_shards = candidate.index && !candidate.index->shards().empty();
        if (is_telling || names_shards) found.push_back(std::move(candidate));
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
        if (is_new) found.push_back({*parts, {}, {}, {}});
        found[at->second].shards.push_back(name);
    }
    return found;
}

/// All sets in a folder; shards that an index names are no set of their own.
std::vector<Candidate> all_sets(const std::string& folder, const std::vector<std::string>& names) {
    std::vector<Candidate> all = indexed_sets(folder, names);
    const std::size_t indexed = all.size();
    for (Candidate& loose : loose_sets(names)) {
        const auto is_owner = [&](const Candidate& c) {
            return std::all_of(loose.shards.begin(), loose.shards.end(),
                               [&](const std::string& shard) { return c.names(shard); });
        };
        if (std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(indexed), is_owner))
            all.push_back(std::move(loose));
    }
    return all;
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
        prefer([](const Candidate& c) { return c.has_index(); });
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
        return std::move(left_.front());
    }

    /// What was passed over for the one that is shown.
    [[nodiscard]] std::vector<std::string> notes(const Candidate& shown) const {
        if (passed_over_.empty()) return {};
        return {fmt::format("{} is shown; also there, and passed over: {}", in_quotes(shown.title()),
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
        const std::string& wanted = choice_.variant;
        const auto is_wanted = [&](const Candidate& c) { return is_of(c.name, wanted); };
        if (prefer(is_wanted) || wanted.empty()) return;
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
        const auto is_loose = [](const Candidate& c) {
            return !c.has_index() && c.name.count == 0 && c.name.variant.empty();
        };
        if (!std::all_of(left_.begin(), left_.end(), is_loose)) return;
        for (std::size_t i = 1; i < left_.size(); ++i) {
            left_[0].shards.insert(left_[0].shards.end(), left_[i].shards.begin(), left_[i].shards.end());
        }
        left_.erase(left_.begin() + 1, left_.end());
    }

    const std::string& folder_;
    std::vector<Candidate> left_;
    std::vector<Candidate> passed_over_;
    const Choice& choice_;
};

/// The names of all shards of a split, also of those that are not there: these will be missed when
/// they are opened. A set has one split at most, whose shards are numbered from 1, or from 0.
std::vector<std::string> complete(std::vector<std::string> shards) {
    constexpr unsigned long most = 100'000;
    const std::string& sample = shards.front();
    const SetName name = *parse_shard_name(sample);
    if (name.count == 0 || name.count > most) return shards;
    const std::size_t of = sample.rfind("-of-");
    const std::size_t dash = sample.rfind('-', of - 1);
    const std::string beginning = sample.substr(0, dash + 1);
    const std::string end = sample.substr(of);
    const std::size_t digits = of - dash - 1;
    const unsigned long first =
        std::any_of(shards.begin(), shards.end(),
                    [](const std::string& shard) { return parse_shard_name(shard)->number == 0; })
            ? 0
            : 1;
    std::set<std::string, decltype(&natural_less)> all(shards.begin(), shards.end(), natural_less);
    for (unsigned long i = 0; i < name.count; ++i)
        all.insert(fmt::format("{}{:0{}}{}", beginning, first + i, digits, end));
    return {all.begin(), all.end()};
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
    constexpr std::string_view middle = ".safetensors.";
    const std::size_t at = name.find(middle);
    std::string_view head = name.substr(0, at);
    std::string_view tail = at == std::string_view::npos ? std::string_view() : name.substr(at + middle.size());
    SetName parts;
    if (at == std::string_view::npos ? take_suffix(head, ".index") : tail == "index") {
        split_variant(head, parts);
    } else if (tail.starts_with("index.")) {
        parts = {std::string(head), std::string(tail.substr(tail.find('.') + 1))};
    } else if (take_suffix(tail, ".index")) {
        parts = {std::string(head), std::string(tail)};
    }
    if (parts.base.empty()) return std::nullopt;
    return parts;
}

bool is_of_variant(std::string_view file, std::string_view variant) {
    const std::optional<SetName> index = parse_index_name(file);
    const std::optional<SetName> shard = parse_shard_name(file);
    return (index && is_of(*index, variant)) || (shard && is_of(*shard, variant));
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
    ShardSet set;
    if (!choice.index.empty()) {
        if (std::find(names.begin(), names.end(), choice.index) == names.end()) {
            throw Error({Kind::NoSuchSource, folder, {}, "it has no index " + in_quotes(choice.index)});
        }
        set.index_name = choice.index;
        set.index = Index::read(join_path(folder, choice.index));
        set.shards = set.index->shards();
        return set;
    }
    std::vector<Candidate> candidates = all_sets(folder, names);
    if (candidates.empty()) return std::nullopt;
    Chooser chooser(folder, std::move(candidates), choice);
    Candidate chosen = chooser.choose();
    set.notes = chooser.notes(chosen);
    if (chosen.has_index()) {
        set.index_name = chosen.index_name;
        // Reading one that could not be read says why.
        set.index = chosen.index ? std::move(chosen.index) : Index::read(join_path(folder, chosen.index_name));
        set.shards = set.index->shards();
    } else {
        set.shards = complete(std::move(chosen.shards));
    }
    return set;
}

}  // namespace tensorfs
