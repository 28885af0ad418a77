#pragma once

#include <string_view>
#include <vector>

#include "core/formats/pickle/pickle.hpp"

namespace tensorfs::pickle {

/// An object that unpickling would look up by its names, and with that import the module of.
struct GlobalUse {
    std::string_view module, name;
    bool is_called;  // at least once: by REDUCE, NEWOBJ or NEWOBJ_EX
};

/// Sound pickles have some dozens.
inline constexpr std::size_t max_globals = 10'000;

/// All that the pickle would look up, each once, in the order in which they first occur; also what is thrown
/// away again. Of more than max_globals, one more than that. Views into the pickle's bytes.
std::vector<GlobalUse> globals_of(const Pickle& pickle);

}  // namespace tensorfs::pickle
