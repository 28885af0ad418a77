#pragma once

#include <simdjson.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"

/// Strict JSON (RFC 8259) over simdjson's On-Demand front end, with the reference implementation's
/// (serde_json's) verdict on every text: no comments, NaN or trailing commas; no lone surrogates;
/// numbers that fit a double; containers at most 127 deep. On-Demand by itself looks only at what
/// is asked for, so whoever reads with this must read or validate() every value.
namespace tensorfs::json {

static_assert(Text::padding >= simdjson::SIMDJSON_PADDING);

/// The text is not the JSON that was asked for. what() says why and at which byte.
class SyntaxError : public std::exception {
public:
    explicit SyntaxError(std::string text) : text_(std::move(text)) {}
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

inline constexpr unsigned max_depth = 127;

enum class Type { null, boolean, number, string, array, object };

/// One value of a document, to be read once and in order.
class Value {
public:
    Value(simdjson::ondemand::value value, unsigned depth) : value_(value), depth_(depth) {}

    [[nodiscard]] Type type();
    [[nodiscard]] bool is_null();

    /// The value as a string, valid until `scratch` changes or the text goes. Throws SyntaxError
    /// unless it is one.
    std::string_view string(std::string& scratch);
    /// The value as an integer of 0 to 2^64-1 written without sign, fraction or exponent; nothing
    /// if it is another number. Throws SyntaxError if it is none.
    std::optional<std::uint64_t> unsigned_integer();

    /// Calls `visit(key, value)` for each field. Throws SyntaxError unless this is an object.
    template <typename Visit>
    void fields(Visit&& visit);
    /// Calls `visit(value)` for each element. Throws SyntaxError unless this is an array.
    template <typename Visit>
    void elements(Visit&& visit);

    /// Reads the value and all below it for nothing but their syntax.
    void validate();

private:
    std::string_view token();
    [[nodiscard]] unsigned inner_depth() const;

    simdjson::ondemand::value value_;
    unsigned depth_;  // containers around this value
};

/// Decodes the string whose opening quote is just before `raw`, into `scratch` if it has escapes.
/// `end` is set to what follows the closing quote. Throws SyntaxError.
std::string_view decode_string(const char* raw, std::string& scratch, const char** end = nullptr);

/// Parses a text whose top is an object and calls `visit(key, value)` for each of its fields.
/// Throws SyntaxError. REQUIRES: the text is valid UTF-8.
template <typename Visit>
void parse_object(const Text& text, Visit&& visit);

// ---- implementation of the templates ----

template <typename Object, typename Visit>
void visit_fields(Object& object, unsigned depth, Visit& visit) {
    std::string scratch;
    for (auto field : object) {
        const simdjson::ondemand::raw_json_string key = field.key();
        visit(decode_string(key.raw(), scratch), Value(field.value(), depth));
    }
}

/// Runs `read` and makes simdjson's errors ours, so that who called can add where it was.
template <typename Read>
void with_our_errors(const Read& read) {
    try {
        read();
    } catch (const simdjson::simdjson_error& e) {
        throw SyntaxError(simdjson::error_message(e.error()));
    }
}

template <typename Visit>
void Value::fields(Visit&& visit) {
    if (type() != Type::object) throw SyntaxError("an object is expected here");
    const unsigned depth = inner_depth();
    with_our_errors([&] {
        simdjson::ondemand::object object = value_.get_object();
        visit_fields(object, depth, visit);
    });
}

template <typename Visit>
void Value::elements(Visit&& visit) {
    if (type() != Type::array) throw SyntaxError("an array is expected here");
    const unsigned depth = inner_depth();
    with_our_errors([&] {
        simdjson::ondemand::array array = value_.get_array();
        for (auto element : array) visit(Value(element.value(), depth));
    });
}

template <typename Visit>
void parse_object(const Text& text, Visit&& visit) {
    // simdjson would pass over a byte order mark; serde_json does not.
    const std::size_t first = text.view().find_first_not_of(" \t\n\r");
    if (first == std::string_view::npos) throw SyntaxError("it is empty");
    if (text.view()[first] != '{') throw SyntaxError("it does not begin with '{'");

    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    if (const auto error = parser.iterate(text.view().data(), text.view().size(), text.padded_size()).get(document)) {
        throw SyntaxError(simdjson::error_message(error));
    }
    const char* at = nullptr;  // nothing is to be had at the document's end
    const auto is_at_end = [&] { return document.current_location().get(at) != simdjson::SUCCESS; };
    const auto here = [&] {
        return is_at_end() ? std::string() : " (near byte " + std::to_string(at - text.view().data()) + ")";
    };
    try {
        simdjson::ondemand::object object = document.get_object();
        visit_fields(object, 1, visit);
        if (!is_at_end()) throw SyntaxError("something follows the end of the object");
    } catch (const simdjson::simdjson_error& e) {
        throw SyntaxError(simdjson::error_message(e.error()) + here());
    } catch (const SyntaxError& e) {
        throw SyntaxError(e.what() + here());
    }
}

}  // namespace tensorfs::json
