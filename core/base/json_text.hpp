#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tensorfs {

/// A document as text in ASCII alone, so that it is safe on a terminal as well: all else is written
/// as \uXXXX. Bytes that are not UTF-8 become U+FFFD. `indent` as nlohmann's dump() takes it.
template <typename Json>
std::string json_text(const Json& document, int indent = -1) {
    return document.dump(indent, ' ', true, Json::error_handler_t::replace);
}

}  // namespace tensorfs
