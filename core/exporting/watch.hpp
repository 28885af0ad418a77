#pragma once

#include <cstdint>
#include <exception>
#include <functional>

namespace tensorfs {

/// Who looks on while something is written; any thread calls these.
struct ExportWatch {
    std::function<void(std::uint64_t nbytes)> wrote;  // so many more bytes of tensors
    std::function<bool()> is_stopped;                 // whether it is to end early
};

/// It was to end early, and nothing is left of it.
class ExportStopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

}  // namespace tensorfs
