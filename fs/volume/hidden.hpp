#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/model.hpp"
#include "core/model/tree.hpp"
#include "core/tensors/content.hpp"
#include "core/views/view_table.hpp"
#include "fs/volume/node.hpp"

namespace tensorfs {

/// The folder .tensorfs: views of the whole tree, as folders, and of the whole model, as files whose
/// contents are made when they are first looked up. Any number of threads may ask.
class Hidden {
public:
    static constexpr std::string_view name = ".tensorfs";

    /// `model` and `tree` must outlive it and stay where they are.
    Hidden(const Model& model, const Tree& tree) : model_(model), tree_(tree) {}

    struct Entry {
        std::string_view name;
        Inode inode;
        bool is_folder;
    };
    /// All there is, in the order of a listing. What cannot be made of this model is left out. Throws Error.
    [[nodiscard]] const std::vector<Entry>& entries() const;
    /// Throws Error.
    [[nodiscard]] std::optional<Entry> find(std::string_view name) const;
    /// Of a file, whose position is the view's id; null for a number that none has. Throws Error.
    [[nodiscard]] const Content* content(std::uint32_t position) const;

private:
    struct Made {
        std::once_flag once;
        std::optional<Content> content;
    };

    const Model& model_;
    const Tree& tree_;
    mutable std::array<Made, model_view_ids> made_;
    mutable std::once_flag listed_;
    mutable std::vector<Entry> entries_;
};

}  // namespace tensorfs
