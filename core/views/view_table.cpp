#include "core/views/view_table.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/formats/safetensors/safetensors.hpp"
#include "core/views/listings.hpp"
#include "core/views/merged.hpp"
#include "core/views/page/page.hpp"
#include "core/views/pytorch.hpp"
#include "core/views/views.hpp"

namespace tensorfs {
namespace {

constexpr std::array tensors{
    TensorView{0, "raw", "", false, raw_view_size, raw_view},
    TensorView{2, "flat", "", true, raw_view_size, raw_view},
    TensorView{3, "npy", ".npy", false, npy_view_size, npy_view},
    TensorView{4, "f32", ".npy", false, f32_view_size, f32_view},
};

std::optional<Content> text(std::string bytes) {
    std::optional<Content> content(std::in_place);
    content->add(std::move(bytes));
    return content;
}

bool always(const Model&) { return true; }

constexpr std::array models{
    ModelView{10, "index.html",
              [](const Model& model, const Tree& tree) { return text(page(model, tree, PagePlace::mount)); }, always},
    ModelView{3, "metadata.json", [](const Model& model, const Tree&) { return text(metadata_json(model)); }, always},
    ModelView{
        9, "model-f32.safetensors", [](const Model& model, const Tree&) { return merged_view(model, Floats::widened); },
        [](const Model& model) { return merged_header_size(model, Floats::widened) <= safetensors::max_header_size; }},
    ModelView{4, "model.safetensors", [](const Model& model, const Tree&) { return merged_view(model); },
              [](const Model& model) { return merged_header_size(model) <= safetensors::max_header_size; }},
    ModelView{6, "problems.json", [](const Model& model, const Tree&) { return text(problems_json(model)); }, always},
    ModelView{7, "pytorch_model.bin",
              [](const Model& model, const Tree&) { return std::optional(pytorch_view(model)); }, always},
    ModelView{8, "tensors.json", [](const Model& model, const Tree& tree) { return text(tensors_json(model, tree)); },
              always},
};

template <typename Table>
constexpr bool has_distinct_ids(const Table& table, std::size_t ids) {
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table[i].id >= ids) return false;
        for (std::size_t j = 0; j < i; ++j) {
            if (table[i].id == table[j].id) return false;
        }
    }
    return true;
}
static_assert(has_distinct_ids(tensors, tensor_view_ids) && has_distinct_ids(models, model_view_ids));
static_assert(std::all_of(tensors.begin(), tensors.end(), [](const TensorView& v) { return v.id != hidden_view_id; }));
static_assert(std::all_of(models.begin(), models.end(), [](const ModelView& v) { return v.id != 0; }));
static_assert(std::is_sorted(models.begin(), models.end(),
                             [](const ModelView& a, const ModelView& b) { return a.name < b.name; }));

template <typename Table>
auto find(const Table& table, std::uint32_t id) {
    const auto* const found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.id == id; });
    return found == table.end() ? nullptr : found;
}

}  // namespace

std::span<const TensorView> tensor_views() { return tensors; }
std::span<const ModelView> model_views() { return models; }

const TensorView* tensor_view(std::uint8_t id) { return find(tensors, id); }
const ModelView* model_view(std::uint32_t id) { return find(models, id); }

}  // namespace tensorfs
