#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tensorfs {

/// A document as text in ASCII alone, so that it is safe on a terminal as well: all else is written
/// as \uXXXX. Bytes that are not UTF-8 become U+FFFD. `indent` as nlohmann's dump() takes it.
template <typename Json>
std::string json_text(const Json& document, int indent = -1) {
    return document.dump(indent, ' ', true, Json::error_handler_t::replace);
}

/// `text` as a JSON string, in quotes, by the same rules.
inline std::string json_string(std::string_view text) { return json_text(nlohmann::json(text)); }

}  // namespace tensorfs
