#pragma once

#include <string>
#include <string_view>

#include "core/formats/pickle/pickle.hpp"

namespace tensorfs::pytorch {

/// What a key leads to, or why it leads nowhere.
struct Selection {
    pickle::Handle value;
    std::string problem;  // "" if `value` counts; not escaped
};

/// The container that `key` names from the root on, in the parts of a tensor's name: "state_dict",
/// "model.ema", "optimizer_states.0". A key of the pickle that has dots in it counts as it is; where
/// several fit, the longest does. The empty key is the root. A problem lists the keys that there are.
Selection select(const pickle::Pickle& pickle, std::string_view key);

}  // namespace tensorfs::pytorch
