#pragma once

#include <string>

namespace tensorfs {

/// What the user says of which model in a folder is meant.
struct Choice {
    std::string index;    // the name of an index file in the folder; "" leaves it to the rules
    std::string variant;  // such as "fp16" or "Q4_K_M"
};

}  // namespace tensorfs
