#include "core/formats/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/json_text.hpp"

namespace tensorfs {
namespace {

template <typename... Visits>
struct Overloaded : Visits... {
    using Visits::operator()...;
};
template <typename... Visits>
Overloaded(Visits...) -> Overloaded<Visits...>;

std::string text_of(bool value) { return value ? "true" : "false"; }

template <typename Float>
std::string json_number(Float value) {
    if (std::isnan(value)) return R"("NaN")";
    if (std::isinf(value)) return value > 0 ? R"("Infinity")" : R"("-Infinity")";
    std::string text = fmt::format("{}", value);
    // As other writers have it, a float stays one.
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

}  // namespace

std::string to_string(const MetadataValue& value) {
    return std::visit(Overloaded{[](bool v) { return text_of(v); }, [](const std::string& v) { return v; },
                                 [](const JsonArray& v) { return v.text; }, [](NotKept) { return std::string(); },
                                 [](auto v) { return fmt::format("{}", v); }},
                      value);
}

std::string to_json(const MetadataValue& value) {
    return std::visit(Overloaded{[](bool v) { return text_of(v); }, [](const std::string& v) { return json_string(v); },
                                 [](const JsonArray& v) { return v.text; }, [](NotKept) { return std::string("null"); },
                                 [](float v) { return json_number(v); }, [](double v) { return json_number(v); },
                                 [](auto v) { return std::to_string(v); }},
                      value);
}

bool has_all(const Metadata& metadata, Keep wanted) {
    return std::none_of(metadata.begin(), metadata.end(), [&](const auto& item) {
        const NotKept* const missing = std::get_if<NotKept>(&item.second);
        return missing != nullptr && wanted != Keep::short_values && (wanted == Keep::all || !missing->is_array);
    });
}

}  // namespace tensorfs
