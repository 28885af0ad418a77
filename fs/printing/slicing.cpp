#include "fs/printing/slicing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/escape.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {
namespace {

[[noreturn]] void fail(std::string_view text, std::string_view why) {
    throw Failure(ExitCode::usage, fmt::format("--slice \"{}\": {}", printable(text), why));
}

/// One word of the text, such as "0:4" or "-1", cut at its colons.
class Word {
public:
    Word(std::string_view text, std::string_view word) : text_(text) {
        for (;;) {
            const std::size_t colon = word.find(':');
            parts_.push_back(number(word.substr(0, colon)));
            if (colon == std::string_view::npos) break;
            word.remove_prefix(colon + 1);
        }
        if (parts_.size() > 3) fail(text_, "a dimension has at most START:STOP:STEP");
        if (is_index() && !parts_[0]) fail(text_, "a dimension needs an index or a colon");
    }

    [[nodiscard]] bool is_index() const { return parts_.size() == 1; }
    [[nodiscard]] std::optional<std::int64_t> part(std::size_t i) const {
        return i < parts_.size() ? parts_[i] : std::nullopt;
    }

private:
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view word) const {
        while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
        while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
        if (word.empty()) return std::nullopt;
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size()) {
            fail(text_, fmt::format("\"{}\" is not a number", printable(word)));
        }
        return value;
    }

    std::string_view text_;
    std::vector<std::optional<std::int64_t>> parts_;
};

/// A bound of a slice, counted from the end if negative, within 0 … size.
std::uint64_t bound(std::optional<std::int64_t> value, std::uint64_t size, std::uint64_t otherwise) {
    if (!value) return otherwise;
    if (*value >= 0) return std::min(static_cast<std::uint64_t>(*value), size);
    const std::uint64_t back = 0 - static_cast<std::uint64_t>(*value);
    return size - std::min(back, size);
}

}  // namespace

Slicing::Slicing(Shape shape) : shape_(shape.begin(), shape.end()) {
    for (const std::uint64_t size : shape) dimensions_.push_back({size, 0, size, 1});
}

Slicing::Slicing(Shape shape, std::string_view text) : Slicing(shape) {
    shape_.clear();
    std::size_t dimension = 0;
    for (std::string_view rest = text;; ++dimension) {
        const std::size_t comma = rest.find(',');
        const Word word(text, rest.substr(0, comma));
        if (dimension == dimensions_.size()) {
            fail(text, fmt::format("the tensor's shape is {}", to_string(shape)));
        }
        Dimension& d = dimensions_[dimension];
        if (word.is_index()) {
            const std::int64_t index = *word.part(0);
            d.first = bound(index, d.size, 0);
            const bool is_before = index < 0 && 0 - static_cast<std::uint64_t>(index) > d.size;
            if (is_before || d.first >= d.size) {
                fail(text, fmt::format("{} is out of range: the tensor's shape is {}", index, to_string(shape)));
            }
            d.count = 1;
            d.is_kept = false;
        } else {
            const std::int64_t step = word.part(2).value_or(1);
            if (step < 1) fail(text, "a step is at least 1");
            const std::uint64_t stop = bound(word.part(1), d.size, d.size);
            d.first = bound(word.part(0), d.size, 0);
            d.step = static_cast<std::uint64_t>(step);
            d.count = stop > d.first ? (stop - d.first - 1) / d.step + 1 : 0;
            shape_.push_back(d.count);
        }
        is_all_ = is_all_ && d.is_whole();
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    for (std::size_t i = dimension + 1; i < dimensions_.size(); ++i) shape_.push_back(dimensions_[i].size);
}

std::uint64_t Slicing::element(const std::vector<std::uint64_t>& indices) const {
    std::uint64_t number = 0;
    auto index = indices.begin();
    for (const Dimension& d : dimensions_) number = number * d.size + d.first + (d.is_kept ? *index++ * d.step : 0);
    return number;
}

std::uint64_t Slicing::elements() const {
    std::uint64_t product = 1;
    for (const Dimension& dimension : dimensions_) product *= dimension.count;
    return product;
}

}  // namespace tensorfs
