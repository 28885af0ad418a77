#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace tensorfs::pickle {

/// The bytes are no pickle that this reader takes. what() says why, at which byte and, where there is
/// one, in which opcode; it holds nothing of the pickle's own text.
class SyntaxError : public std::exception {
public:
    /// `at` counts bytes from the start of the pickle.
    SyntaxError(std::string_view why, std::uint64_t at);
    SyntaxError(std::string_view why, std::uint64_t at, unsigned char opcode);

    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
    /// Where the opcode begins that cannot be read.
    [[nodiscard]] std::uint64_t at() const noexcept { return at_; }

private:
    std::string text_;
    std::uint64_t at_;
};

}  // namespace tensorfs::pickle
