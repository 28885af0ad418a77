#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/numbers/statistics.hpp"

namespace tensorfs {

/// A number for a person: integers in full, others with 6 digits.
std::string number_text(const Number& number);
std::string number_text(double number);

/// The heads of these columns, and the cells for one line: min, max, mean, std, zeros, nan, inf. What there is none of
/// is "-".
std::vector<std::string> statistics_heads();
std::vector<std::string> statistics_cells(const Statistics& statistics);

/// Adds `min`, `max`, `mean`, `std`, `zeros`, `nan`, `inf` and `negative_inf` (of the infinities) to a JSON object. A
/// number that is not finite, or that there is none of, is null.
void add_statistics(nlohmann::ordered_json& object, const Statistics& statistics);

/// What is wrong with numbers that should be a model's weights: "12 NaN, 1 infinity" or "all 64 elements are 0". Empty
/// where nothing is.
std::string trouble_text(const Statistics& statistics);

}  // namespace tensorfs
