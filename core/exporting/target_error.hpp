#pragma once

#include <exception>
#include <string>
#include <utility>

namespace tensorfs {

/// Why something cannot be written where it was to be: it exists, the disk is full, and the like. (What is wrong with
/// a source is an Error.) The text is safe to print.
class TargetError : public std::exception {
public:
    explicit TargetError(std::string text) : text_(std::move(text)) {}
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

}  // namespace tensorfs
