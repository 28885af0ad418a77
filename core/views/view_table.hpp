#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/model/model.hpp"
#include "core/model/tree.hpp"
#include "core/tensors/content.hpp"

namespace tensorfs {

// All views, with the names under which they stand in the folder .tensorfs. A new one is a function and a row.

/// A folder of .tensorfs in which each tensor is a file.
struct TensorView {
    std::uint8_t id;          // a part of inode numbers, so it is never given to another view
    std::string_view name;    // the folder's; of the first, which is the tree in the mount's root, "raw"
    std::string_view ending;  // behind the names of its files
    bool is_flat;             // one folder, by full names, instead of the tree
    std::uint64_t (*nbytes)(const Tensor&);
    Content (*content)(const Tensor&);
};

/// A file of .tensorfs that is made of the whole model when it is first looked up.
struct ModelView {
    std::uint32_t id;       // a part of its inode number, so it is never given to another view; not 0
    std::string_view name;  // of the file
    /// Nothing where it cannot be made of this model. Throws Error.
    std::optional<Content> (*content)(const Model&, const Tree&);
    /// Whether it can be made, without making it.
    bool (*is_possible)(const Model&);
};

/// In the order of their ids, which are their positions but for a gap at `hidden_view_id`.
std::span<const TensorView> tensor_views();
/// The number that the folder .tensorfs itself and the files in it have in the place of a view's id.
inline constexpr std::uint8_t hidden_view_id = 1;
/// One more than the largest id of a tensor view.
inline constexpr std::size_t tensor_view_ids = 5;

/// In the order of their names.
std::span<const ModelView> model_views();
/// One more than the largest id of a model view.
inline constexpr std::size_t model_view_ids = 11;

/// The view of that id; null where none has it.
const TensorView* tensor_view(std::uint8_t id);
const ModelView* model_view(std::uint32_t id);

}  // namespace tensorfs
