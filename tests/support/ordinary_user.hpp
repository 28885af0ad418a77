#pragma once

#include <string>

#include "tests/support/mounted.hpp"

namespace tensorfs::tests {

/// A user without any rights, with a folder of its own: in it a model (`my, model`, whose a.weight is
/// "abcd"), the program (`tensorfs`) and a folder to mount on (`at`).
class OrdinaryUser {
public:
    /// Why no ordinary user can mount here; empty if one can.
    static std::string cannot_mount();

    OrdinaryUser();

    /// Runs a shell script as the user, in the folder.
    [[nodiscard]] Result run_script(const std::string& script) const;

private:
    TemporaryFolder folder_;
    Adopter adopter_;
};

}  // namespace tensorfs::tests
