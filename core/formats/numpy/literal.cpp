#include "core/formats/numpy/literal.hpp"

#include <charconv>

namespace tensorfs::numpy {
namespace {

constexpr std::size_t deepest = 16;  // of lists in a 'descr'; structures in structures take two each

class LiteralParser {
public:
    explicit LiteralParser(std::string_view text) : rest_(text) {}

    HeaderDict parse() {
        HeaderDict dict;
        bool has_descr = false;
        bool has_order = false;
        bool has_shape = false;
        expect('{');
        while (!take('}')) {
            const std::string_view key = string();
            expect(':');
            if (key == "descr") {
                once(has_descr, key);
                read_descr(dict);
            } else if (key == "fortran_order") {
                once(has_order, key);
                dict.fortran_order = boolean();
            } else if (key == "shape") {
                once(has_shape, key);
                dict.shape = shape();
            } else {
                throw LiteralError("it has a key that is none of 'descr', 'fortran_order' and 'shape'");
            }
            if (take(',')) continue;
            expect('}');
            break;
        }
        skip_space();
        if (!rest_.empty()) throw LiteralError("something stands behind the dict");
        if (!has_descr || !has_order || !has_shape) {
            throw LiteralError("one of its keys 'descr', 'fortran_order' and 'shape' is missing");
        }
        return dict;
    }

private:
    static void once(bool& has, std::string_view key) {
        if (has) throw LiteralError("the key '" + std::string(key) + "' stands there twice");
        has = true;
    }

    void skip_space() {
        const std::size_t end = rest_.find_first_not_of(" \t\n\r\f\v");
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
    }

    /// The next character that is no white space; NUL at the end.
    char peek() {
        skip_space();
        return rest_.empty() ? '\0' : rest_.front();
    }

    bool take(char c) {
        if (peek() != c || rest_.empty()) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char c) {
        if (!take(c)) throw LiteralError(std::string("'") + c + "' is missing");
    }

    bool take_word(std::string_view word) {
        skip_space();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    std::string_view string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') throw LiteralError("a text in quotes is missing");
        const std::size_t end = rest_.find_first_of(std::string{quote, '\\', '\n'}, 1);
        if (end == std::string_view::npos || rest_[end] != quote) {
            throw LiteralError("a text does not end, or has a backslash");
        }
        const std::string_view text = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return text;
    }

    bool boolean() {
        if (take_word("True")) return true;
        if (take_word("False")) return false;
        throw LiteralError("'fortran_order' is neither True nor False");
    }

    std::uint64_t dim() {
        if (peek() == '-') throw LiteralError("a size is negative");
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error == std::errc::result_out_of_range) throw LiteralError("a size is larger than any array");
        if (error != std::errc()) throw LiteralError("a size is no whole number");
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);
        return static_cast<std::uint64_t>(value);
    }

    std::vector<std::uint64_t> shape() {
        std::vector<std::uint64_t> dims;
        if (!take('(')) throw LiteralError("the shape is no tuple");
        while (!take(')')) {
            if (dims.size() == most_dims) throw LiteralError("the shape has more than 64 dimensions");
            dims.push_back(dim());
            if (take(',')) continue;
            expect(')');
            if (dims.size() == 1) throw LiteralError("the shape is a number in parentheses, not a tuple");
            break;
        }
        return dims;
    }

    void read_descr(HeaderDict& dict) {
        const char first = peek();
        if (first == '\'' || first == '"') {
            dict.descr = string();
        } else if (first == '[' || first == '(') {
            skip_value(0);
        } else {
            throw LiteralError("'descr' is neither a text nor a list of fields");
        }
    }

    /// Steps over a text, a number, a word, or a list or tuple of such.
    void skip_value(std::size_t depth) {
        const char first = peek();
        if (first == '\'' || first == '"') {
            static_cast<void>(string());
        } else if (first == '[' || first == '(') {
            if (depth == deepest) throw LiteralError("'descr' is nested too deeply");
            const char close = first == '[' ? ']' : ')';
            expect(first);
            while (!take(close)) {
                skip_value(depth + 1);
                if (take(',')) continue;
                expect(close);
                break;
            }
        } else if (!take_word("True") && !take_word("False") && !take_word("None")) {
            static_cast<void>(dim());
        }
    }

    std::string_view rest_;
};

}  // namespace

HeaderDict parse_header_dict(std::string_view text) { return LiteralParser(text).parse(); }

}  // namespace tensorfs::numpy
