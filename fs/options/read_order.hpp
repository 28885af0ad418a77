#pragma once

#include <cstdint>

namespace tensorfs {

/// Whether shards are read in order, a stream at a time.
enum class ReadOrder : std::uint8_t {
    automatic,  // where they lie on a filesystem of another program (core/base/distant.hpp)
    kept,       // always
    free        // never
};

}  // namespace tensorfs
