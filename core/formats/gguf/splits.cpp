#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/formats/gguf/gguf.hpp"
#include "core/formats/gguf/keys.hpp"

namespace tensorfs::gguf {
namespace {

/// What a name PREFIX-00001-of-00003.gguf says.
struct PartName {
    std::uint64_t number, count;  // the number from 1
};

std::optional<std::uint64_t> five_digits(std::string_view text) {
    std::uint64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
}

std::optional<PartName> parse_part_name(std::string_view name) {
    constexpr std::string_view pattern = "-00000-of-00000.gguf";
    if (name.size() <= pattern.size()) return std::nullopt;
    const std::string_view end = name.substr(name.size() - pattern.size());
    if (end[0] != '-' || end.substr(6, 4) != "-of-" || end.substr(15) != ".gguf") return std::nullopt;
    const std::optional<std::uint64_t> number = five_digits(end.substr(1, 5));
    const std::optional<std::uint64_t> count = five_digits(end.substr(10, 5));
    if (!number || !count || *number == 0 || *number > *count) return std::nullopt;
    return PartName{*number, *count};
}

/// An integer of a file's metadata; nothing where the key is not there, or is of another sign or kind.
template <typename Integer>
std::optional<Integer> find_integer(const Metadata& metadata, std::string_view key) {
    const auto found =
        std::find_if(metadata.begin(), metadata.end(), [&](const auto& item) { return item.first == key; });
    if (found == metadata.end() || !std::holds_alternative<Integer>(found->second)) return std::nullopt;
    return std::get<Integer>(found->second);
}

std::uint64_t split_count(const Part& part) {
    return find_integer<std::uint64_t>(part.metadata, split_count_key).value_or(0);
}

class SplitChecker {
public:
    SplitChecker(std::span<const Part> parts, bool is_whole) : parts_(parts), is_whole_(is_whole) {}

    std::vector<Problem> check() {
        if (parts_.size() == 1 && split_count(parts_[0]) <= 1) return {};  // a file of its own, whatever its name
        std::uint64_t tensors = 0;
        for (const Part& part : parts_) {
            check_part(part);
            tensors += part.tensors;
        }
        if (is_whole_ && problems_.empty()) {
            for (const Part& part : parts_) check_sum(part, tensors);
        }
        return std::move(problems_);
    }

private:
    void refuse(const Part& part, std::string text) {
        problems_.push_back({Kind::SplitMismatch, std::string(part.path), {}, std::move(text)});
    }

    void check_part(const Part& part) {
        const std::uint64_t count = split_count(part);
        const std::optional<PartName> name = parse_part_name(part.name);
        if (!name) {
            refuse(part, fmt::format("it is a part of a split of {0} files, but is not named as one, such as "
                                     "model-00001-of-{0:05}.gguf",
                                     count));
            return;
        }
        if (count != name->count) {
            refuse(part,
                   fmt::format("{} is {}, but by its name there are {} parts", split_count_key, count, name->count));
            return;
        }
        const auto number = find_integer<std::uint64_t>(part.metadata, split_number_key);
        if (number != name->number - 1) {
            refuse(part, fmt::format("{} is {}, but by its name it is {}", split_number_key,
                                     number ? std::to_string(*number) : "not there", name->number - 1));
        }
        if (!find_integer<std::int64_t>(part.metadata, split_tensors_key))
            refuse(part, fmt::format("{} is not there", split_tensors_key));
        if (is_whole_ && parts_.size() != count && &part == &parts_.front())
            refuse(part,
                   fmt::format("it is a part of a split of {} files, of which {} are here", count, parts_.size()));
    }

    void check_sum(const Part& part, std::uint64_t tensors) {
        const std::int64_t claimed = *find_integer<std::int64_t>(part.metadata, split_tensors_key);
        if (claimed >= 0 && static_cast<std::uint64_t>(claimed) == tensors) return;
        refuse(part, fmt::format("{} is {}, but the parts have {} tensors", split_tensors_key, claimed, tensors));
    }

    std::span<const Part> parts_;
    bool is_whole_;
    std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> check_parts(std::span<const Part> parts, bool is_whole) {
    return SplitChecker(parts, is_whole).check();
}

}  // namespace tensorfs::gguf
