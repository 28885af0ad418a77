#pragma once

#include <string_view>

namespace tensorfs {

/// Natural order: as by bytes, but a run of digits counts as the number that it writes, so that
/// "layers.2" stands before "layers.10". A total order: numbers of one value ("7", "007") are told
/// apart by bytes. Negative, zero or positive as `a` stands before, with or after `b`; zero only
/// for equal texts.
int natural_compare(std::string_view a, std::string_view b);

inline bool natural_less(std::string_view a, std::string_view b) { return natural_compare(a, b) < 0; }

}  // namespace tensorfs
