#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.hpp"
#include "core/numbers/statistics.hpp"

namespace tensorfs {

/// What lies below a folder of a mount, at any depth, of the tensors that were measured.
struct FolderStatistics {
    std::string path;  // as in the mount; empty for its root
    std::uint64_t tensors = 0;
    std::uint64_t nbytes = 0;
    Statistics statistics{};
};

/// Totals of the folders that are at most so many names deep, the root's first, in the order of the tree. Folders that
/// hold none of the tensors are left out. `measured` are the statistics of the tensors `selected`.
std::vector<FolderStatistics> folder_statistics(const Model& model, std::string_view separators,
                                                const std::vector<std::uint32_t>& selected,
                                                const std::vector<Statistics>& measured, std::uint64_t depth);

}  // namespace tensorfs
