#pragma once

#include <cstdint>

namespace tensorfs {

/// From what importance on an event is logged.
enum class LogLevel : std::uint8_t { error, warning, info, debug };

}  // namespace tensorfs
