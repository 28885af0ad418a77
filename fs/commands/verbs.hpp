#pragma once

#include <span>

#include "fs/command_line/verb.hpp"

namespace tensorfs {

// The verbs, one file each.
extern const Verb mount_verb;
extern const Verb ls_verb;
extern const Verb info_verb;
extern const Verb verify_verb;
extern const Verb cat_verb;
extern const Verb show_verb;
extern const Verb stats_verb;
extern const Verb diff_verb;
extern const Verb sum_verb;
extern const Verb warm_verb;
extern const Verb export_verb;
extern const Verb page_verb;

/// All verbs, in the order of --help and of the manual.
std::span<const Verb* const> verbs();

}  // namespace tensorfs
