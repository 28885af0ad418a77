#include "fs/commands/verbs.hpp"

#include <array>

namespace tensorfs {

std::span<const Verb* const> verbs() {
    static constexpr std::array all{
        &mount_verb, &ls_verb,   &info_verb, &verify_verb, &cat_verb,    &show_verb,
        &stats_verb, &diff_verb, &sum_verb,  &warm_verb,   &export_verb, &page_verb,
    };
    return all;
}

}  // namespace tensorfs
