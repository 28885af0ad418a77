#include "fs/volume/hidden.hpp"

#include <algorithm>

#include "core/formats/safetensors/safetensors.hpp"
#include "core/views/merged.hpp"
#include "core/views/pytorch.hpp"
#include "core/views/views.hpp"

namespace tensorfs {
namespace {

Content text(std::string bytes) {
    Content content;
    content.add(std::move(bytes));
    return content;
}

/// What stands in .tensorfs: the folder of a view, or a file and what makes it. A file's position is
/// the row's number plus one.
struct Row {
    std::string_view name;
    View view;                                                  // of a folder
    std::optional<Content> (*make)(const Model&, const Tree&);  // null for a folder
    bool (*is_possible)(const Model&);                          // null where it always is
};

constexpr std::array rows{
    Row{"f32", View::f32, nullptr, nullptr},
    Row{"flat", View::flat, nullptr, nullptr},
    Row{"metadata.json", View::hidden,
        [](const Model& model, const Tree&) { return std::optional(text(metadata_json(model))); }, nullptr},
    Row{"model.safetensors", View::hidden, [](const Model& model, const Tree&) { return merged_view(model); },
        [](const Model& model) { return merged_header_size(model) <= max_header_size; }},
    Row{"npy", View::npy, nullptr, nullptr},
    Row{"problems.json", View::hidden,
        [](const Model& model, const Tree&) { return std::optional(text(problems_json(model))); }, nullptr},
    Row{"pytorch_model.bin", View::hidden,
        [](const Model& model, const Tree&) { return std::optional(pytorch_view(model)); }, nullptr},
    Row{"tensors.json", View::hidden,
        [](const Model& model, const Tree& tree) { return std::optional(text(tensors_json(model, tree))); }, nullptr},
};
static_assert(rows.size() <= Hidden::most_entries);

Hidden::Entry entry_of(std::size_t row) {
    const bool is_folder = rows[row].make == nullptr;
    const Inode inode =
        is_folder ? Inode{rows[row].view, Tree::root} : Inode{View::hidden, static_cast<std::uint32_t>(row + 1)};
    return {rows[row].name, inode, is_folder};
}

}  // namespace

const std::vector<Hidden::Entry>& Hidden::entries() const {
    std::call_once(listed_, [&] {
        for (std::size_t row = 0; row < rows.size(); ++row) {
            if (rows[row].is_possible == nullptr || rows[row].is_possible(model_)) entries_.push_back(entry_of(row));
        }
    });
    return entries_;
}

std::optional<Hidden::Entry> Hidden::find(std::string_view wanted) const {
    const auto* const row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == wanted; });
    if (row == rows.end()) return std::nullopt;
    const Entry entry = entry_of(static_cast<std::size_t>(row - rows.begin()));
    if (!entry.is_folder && content(entry.inode.position) == nullptr) return std::nullopt;
    return entry;
}

const Content* Hidden::content(std::uint32_t position) const {
    if (position == 0 || position > rows.size() || rows[position - 1].make == nullptr) return nullptr;
    Made& made = made_[position - 1];
    std::call_once(made.once, [&] { made.content = rows[position - 1].make(model_, tree_); });
    return made.content ? &*made.content : nullptr;
}

}  // namespace tensorfs
