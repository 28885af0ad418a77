#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "fs/terminal/exit_code.hpp"

namespace tensorfs {

/// Something that ends the program with a message and an exit code of its kind.
class Failure : public std::exception {
public:
    Failure(ExitCode code, std::string text) : code_(code), text_(std::move(text)) {}
    [[nodiscard]] ExitCode code() const noexcept { return code_; }
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    ExitCode code_;
    std::string text_;
};

/// Prints "tensorfs: TEXT" on standard error. `text` is printed as it is.
void complain(std::string_view text);

/// Writes `text` to standard output. Throws Failure if it cannot be written (a full disk, a closed
/// pipe).
void print(std::string_view text);

/// Prints all problems of a source on standard error; answers the exit code for them.
ExitCode report(const Error& error);

/// "12,345,678".
std::string with_commas(std::uint64_t number);

/// "1 tensor", "12,345 tensors".
std::string counted(std::uint64_t number, std::string_view noun);

/// A number of bytes for people: "16.8 MB" (powers of 1000), "512 bytes".
std::string human_bytes(std::uint64_t bytes);

}  // namespace tensorfs
