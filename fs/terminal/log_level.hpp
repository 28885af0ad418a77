#pragma once

#include <cstdint>

namespace tensorfs {

/// The least important events that are logged.
enum class LogLevel : std::uint8_t { error, warning, info, debug };

}  // namespace tensorfs
