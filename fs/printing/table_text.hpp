#pragma once

#include <string>
#include <vector>

namespace tensorfs {

/// Lines of a table.
using TableRows = std::vector<std::vector<std::string>>;

/// The lines with their columns aligned, two spaces apart: the first `left` ones to the left, the others to the right.
/// A column is as wide as what it holds, but for names beyond reason. REQUIRES: all rows have as many cells.
std::string table_text(const TableRows& rows, std::size_t left);

}  // namespace tensorfs
