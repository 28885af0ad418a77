#include "fs/showing/statistics_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {
namespace {

std::string number_or_dash(const std::optional<Number>& number) { return number ? number_text(*number) : "-"; }

nlohmann::ordered_json number_or_null(const std::optional<Number>& number) {
    if (!number) return nullptr;
    return std::visit([](auto value) { return nlohmann::ordered_json(value); }, *number);
}

}  // namespace

std::string number_text(double number) { return std::isnan(number) ? "-" : fmt::format("{:.6g}", number); }

std::string number_text(const Number& number) {
    if (const auto* const real = std::get_if<double>(&number)) return number_text(*real);
    return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

std::vector<std::string> statistics_heads() { return {"min", "max", "mean", "std", "zeros", "nan", "inf"}; }

std::vector<std::string> statistics_cells(const Statistics& statistics) {
    return {number_or_dash(statistics.minimum),  number_or_dash(statistics.maximum), number_text(statistics.mean()),
            number_text(statistics.deviation()), with_commas(statistics.zeros),      with_commas(statistics.nans),
            with_commas(statistics.infinities)};
}

void add_statistics(nlohmann::ordered_json& object, const Statistics& statistics) {
    object["min"] = number_or_null(statistics.minimum);
    object["max"] = number_or_null(statistics.maximum);
    object["mean"] = statistics.mean();
    object["std"] = statistics.deviation();
    object["zeros"] = statistics.zeros;
    object["nan"] = statistics.nans;
    object["inf"] = statistics.infinities;
    object["negative_inf"] = statistics.negative_infinities;
}

std::string trouble_text(const Statistics& statistics) {
    if (statistics.is_constant()) {
        return fmt::format("all {} elements are {}", with_commas(statistics.elements),
                           number_text(*statistics.minimum));
    }
    std::string text;
    if (statistics.nans != 0) text = with_commas(statistics.nans) + " NaN";
    if (statistics.infinities != 0) {
        if (!text.empty()) text += ", ";
        text += with_commas(statistics.infinities) + (statistics.infinities == 1 ? " infinity" : " infinities");
    }
    if (!text.empty()) text += fmt::format(" of {}", with_commas(statistics.elements));
    return text;
}

}  // namespace tensorfs
