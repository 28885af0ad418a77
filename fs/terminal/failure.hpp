#pragma once

#include <exception>
#include <string>
#include <utility>

#include "fs/terminal/exit_code.hpp"

namespace tensorfs {

/// Ends the program with a message and an exit code. (What is wrong with a source is an Error.)
class Failure : public std::exception {
public:
    Failure(ExitCode code, std::string text) : code_(code), text_(std::move(text)) {}
    [[nodiscard]] ExitCode code() const noexcept { return code_; }
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    ExitCode code_;
    std::string text_;
};

}  // namespace tensorfs
