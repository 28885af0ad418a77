#include "core/sources/index.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/json.hpp"
#include "core/sources/set_name.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs {
namespace {

/// Five million tensors; a guard against being made to read whatever is called an index.
constexpr std::uint64_t max_index_size = 1'000'000'000;

bool has_parent_reference(std::string_view path) {
    while (true) {
        const std::size_t slash = path.find('/');
        if (path.substr(0, slash) == "..") return true;
        if (slash == std::string_view::npos) return false;
        path.remove_prefix(slash + 1);
    }
}

/// Whether an index of that format may name such a file: also one with a suffix that other files have, too.
bool may_name(const Format& format, std::string_view path) {
    const FileNames& files = format.files;
    if (files.indexed.empty()) return false;
    return std::any_of(files.suffixes.begin(), files.suffixes.end(),
                       [&](auto suffix) { return path.ends_with(suffix); }) ||
           (!files.shared_suffix.empty() && path.ends_with(files.shared_suffix));
}

}  // namespace

std::span<const Format> index_formats(std::string_view name, std::span<const Format> formats) {
    const Format* const format = format_of_index(name, formats);
    return format == nullptr ? formats : std::span(format, 1);
}

std::string_view shard_path_problem(std::string_view path) {
    if (path.empty()) return "it is empty";
    if (path.find('\0') != std::string_view::npos) return "it holds a NUL byte";
    if (path.front() == '/') return "it is absolute";
    if (path.find('\\') != std::string_view::npos) return "it holds a backslash";
    if (path.size() >= 2 && path[1] == ':') return "it begins with a drive letter";
    if (has_parent_reference(path)) return "it leads out of the index's folder with \"..\"";
    return {};
}

/// Reads one index's text.
class IndexReader {
public:
    IndexReader(Index& index, const std::string& path, std::span<const Format> formats)
        : index_(index), path_(path), formats_(formats) {}

    void read() {
        const json::Text& text = index_.names_->text;
        if (!simdjson::validate_utf8(text.view().data(), text.view().size())) invalid("it is not UTF-8");
        try {
            json::parse_object(text, [&](std::string_view key, json::Value value) {
                if (key == "weight_map") {
                    if (has_map_) throw json::SyntaxError("\"weight_map\" stands twice");
                    has_map_ = true;
                    read_map(value);
                } else if (key == "metadata" && value.type() == json::Type::object) {
                    read_metadata(value);
                } else {
                    value.validate();
                }
            });
        } catch (const json::SyntaxError& e) {
            invalid(e.what());
        }
        if (!has_map_) invalid("it has no \"weight_map\"");
        sort_shards();
        sort_entries();
        if (!problems_.empty()) throw Error(std::move(problems_));
    }

private:
    [[noreturn]] void invalid(std::string text) const {
        throw Error({Kind::InvalidIndex, path_, {}, "the index: " + std::move(text)});
    }

    void read_map(json::Value map) {
        map.fields([&](std::string_view name, json::Value value) {
            const std::string_view text = index_.names_->text.view();
            const bool lies_in_text = !name.empty() && !std::less<>()(name.data(), text.data()) &&
                                      std::less<>()(name.data(), text.data() + text.size());
            const char* const at = lies_in_text ? name.data() : index_.names_->escaped.emplace_back(name).data();
            index_.entries_.push_back(
                {at, static_cast<std::uint32_t>(name.size()), shard_number(value.string(scratch_))});
        });
    }

    void read_metadata(json::Value metadata) {
        metadata.fields([&](std::string_view key, json::Value value) {
            if (key == "total_size" && value.type() == json::Type::number) {
                index_.total_size_ = value.unsigned_integer();
            } else {
                value.validate();
            }
        });
    }

    std::uint32_t shard_number(std::string_view path) {
        if (!index_.shards_.empty() && index_.shards_[latest_] == path) return latest_;  // mostly so
        const auto [found, is_new] =
            numbers_.try_emplace(std::string(path), static_cast<std::uint32_t>(index_.shards_.size()));
        if (is_new) {
            index_.shards_.emplace_back(path);
            check_path(path);
        }
        return latest_ = found->second;
    }

    void check_path(std::string_view path) {
        const std::string_view problem = shard_path_problem(path);
        const bool is_bad_path = !problem.empty();
        if (is_bad_path) {
            problems_.push_back({Kind::InvalidShardPath,
                                 path_,
                                 {},
                                 "the index names a shard " + in_quotes(path) + ": " + std::string(problem)});
        }
        const auto fits = [&](const Format& format) { return may_name(format, path); };
        if (index_.format_ == nullptr) {
            const auto found = std::find_if(formats_.begin(), formats_.end(), fits);
            if (found != formats_.end()) index_.format_ = &*found;
        }
        if (is_bad_path || (index_.format_ != nullptr && fits(*index_.format_))) return;
        problems_.push_back(
            {Kind::InvalidIndex,
             path_,
             {},
             fmt::format("the index names {}, which is no {} file", in_quotes(path), wanted_suffixes())});
    }

    /// ".safetensors": of the index's format, or of all that it could be of.
    [[nodiscard]] std::string wanted_suffixes() const {
        std::vector<std::string_view> suffixes;
        for (const Format& format : formats_) {
            if (format.files.indexed.empty() || (index_.format_ != nullptr && index_.format_ != &format)) continue;
            suffixes.push_back(format.files.indexed);
        }
        return fmt::format("{}", fmt::join(suffixes, " or "));
    }

    void sort_shards() {
        std::vector<std::uint32_t> order(index_.shards_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return index_.shards_[a] < index_.shards_[b]; });
        std::vector<std::string> sorted(order.size());
        std::vector<std::uint32_t> position(order.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            sorted[i] = std::move(index_.shards_[order[i]]);
            position[order[i]] = i;
        }
        index_.shards_ = std::move(sorted);
        for (Index::Entry& entry : index_.entries_) entry.shard = position[entry.shard];
    }

    void sort_entries() {
        const auto by_name = [&](const Index::Entry& a, const Index::Entry& b) {
            return index_.name(a) < index_.name(b);
        };
        LargeVector<Index::Entry>& all = index_.entries_;
        if (!std::is_sorted(all.begin(), all.end(), by_name)) std::sort(all.begin(), all.end(), by_name);
        for (std::size_t i = 1; i < all.size(); ++i) {
            if (index_.name(all[i - 1]) == index_.name(all[i]) && all[i - 1].shard != all[i].shard) {
                problems_.push_back({Kind::DuplicateName, path_, std::string(index_.name(all[i])),
                                     "the index places it in " + in_quotes(index_.shards_[all[i - 1].shard]) +
                                         " and in " + in_quotes(index_.shards_[all[i].shard])});
            }
        }
        const auto same = [&](const Index::Entry& a, const Index::Entry& b) {
            return index_.name(a) == index_.name(b);
        };
        all.erase(std::unique(all.begin(), all.end(), same), all.end());
    }

    Index& index_;
    const std::string& path_;
    std::span<const Format> formats_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<Problem> problems_;
    std::string scratch_;
    std::uint32_t latest_ = 0;
    bool has_map_ = false;
};

Index Index::parse(std::string_view text, const std::string& path, std::span<const Format> formats) {
    Index index;
    index.names_ = std::make_shared<Names>(Names{json::Text(text)});
    IndexReader(index, path, formats).read();
    return index;
}

Index Index::read(const std::string& path, std::span<const Format> formats) {
    const Shard file(path);
    if (file.size() > max_index_size) {
        throw Error(
            {Kind::InvalidIndex, path, {}, "the index has more than " + std::to_string(max_index_size) + " bytes"});
    }
    Index index;
    index.names_ = std::make_shared<Names>(Names{json::Text(file.size())});
    file.read(0, {index.names_->text.data(), file.size()});
    IndexReader(index, path, formats).read();
    return index;
}

}  // namespace tensorfs
