#pragma once

#include <vector>

#include "core/formats/pickle/pickle.hpp"

namespace tensorfs::pytorch {

/// Which containers hold a tensor. A pickle of a few bytes can hold containers in each other so that there
/// are more ways through them than can be walked; with this, ways that lead to no tensor are not.
class Holders {
public:
    /// Looks at all that can be reached from `root`. Takes some bytes for each byte of the pickle, and time
    /// for going through it a few times.
    Holders(const pickle::Pickle& pickle, pickle::Handle root);

    /// Whether the value is a container with a tensor in it, or in one that is in it: surely so down to
    /// max_depth, and perhaps below.
    [[nodiscard]] bool hold(pickle::Handle value) const {
        const auto position = pickle::Pickle::position(value);
        return position && holds_[*position];
    }

private:
    std::vector<bool> holds_;  // by node
};

}  // namespace tensorfs::pytorch
