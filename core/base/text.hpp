#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "core/base/large_pages.hpp"

namespace tensorfs::json {

/// Bytes to be parsed as JSON, with the padding behind them that simdjson asks for. In a header of its
/// own, so that who only passes it on need not include simdjson.
class Text {
public:
    /// `size` bytes, to be filled.
    explicit Text(std::size_t size) : bytes_(size + padding), size_(size) {
        std::memset(bytes_.data() + size, 0, padding);
    }
    explicit Text(std::string_view text) : Text(text.size()) { text.copy(bytes_.data(), text.size()); }
    [[nodiscard]] char* data() { return bytes_.data(); }
    [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }
    [[nodiscard]] std::size_t padded_size() const { return bytes_.size(); }

    static constexpr std::size_t padding = 64;  // at least simdjson::SIMDJSON_PADDING

private:
    LargeVector<char> bytes_;
    std::size_t size_;
};

}  // namespace tensorfs::json
