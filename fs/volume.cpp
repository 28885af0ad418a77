#include "fs/volume.hpp"

#include <algorithm>
#include <utility>

#include "core/views.hpp"

namespace tensorfs {
namespace {

constexpr std::string_view hidden_name = ".tensorfs";

/// What stands in .tensorfs: a file whose bytes are made, or the folder of a view. The row's number
/// plus one is the file's position; a new whole-model view is a row.
struct Row {
    std::string_view name;
    std::string (*make)(const Model&, const Tree&);  // null for a view's folder
    View view;
};

constexpr std::array<Row, 4> rows{{
    {"flat", nullptr, View::flat},
    {"metadata.json", [](const Model& model, const Tree&) { return metadata_json(model); }, View::hidden},
    {"problems.json", [](const Model& model, const Tree&) { return problems_json(model); }, View::hidden},
    {"tensors.json", [](const Model& model, const Tree& tree) { return tensors_json(model, tree); }, View::hidden},
}};

constexpr std::uint64_t block = 512;

Inode row_inode(std::size_t row) {
    if (rows[row].make == nullptr) return {rows[row].view, Tree::root};
    return {View::hidden, static_cast<std::uint32_t>(row + 1)};
}

}  // namespace

Volume::Volume(Model model, std::string_view separators) : model_(std::move(model)), tree_(model_, separators) {
    static_assert(rows.size() <= std::tuple_size_v<decltype(made_)>);
    for (const Tensor& tensor : model_.tensors()) blocks_ += (tensor.nbytes() + block - 1) / block;
}

timespec Volume::newest() const { return model_.shards()[tree_.folder(Tree::root).newest].modified(); }

const Tree* Volume::tree_of(View view) const {
    switch (view) {
        case View::raw: return &tree_;
        case View::hidden: return nullptr;
        case View::flat:
            // The rules that make the tree also make one flat folder, if nothing separates.
            std::call_once(flat_once_, [&] { flat_ = std::make_unique<const Tree>(model_, ""); });
            return flat_.get();
    }
    return nullptr;
}

const Bytes& Volume::made(std::size_t row) const {
    Made& made = made_[row];
    std::call_once(made.once, [&] { made.bytes = std::make_shared<const std::string>(rows[row].make(model_, tree_)); });
    return made.bytes;
}

Node Volume::tree_node(View view, const Tree& tree, Tree::Position position) const {
    Node node;
    node.inode = {view, position};
    node.is_folder = tree.is_folder(position);
    if (node.is_folder) {
        const Tree::Folder& folder = tree.folder(position);
        node.entries = folder.count;
        node.folders = folder.folders;
        node.modified = model_.shards()[folder.newest].modified();
        node.sums = &folder;
    } else {
        node.tensor = &model_.tensors()[tree.tensor(position)];
        node.nbytes = node.tensor->nbytes();
        node.modified = model_.shards()[node.tensor->shard()].modified();
    }
    return node;
}

std::optional<Node> Volume::node(Inode inode) const {
    if (const Tree* tree = tree_of(inode.view)) {
        if (inode.position >= tree->size()) return std::nullopt;
        return tree_node(inode.view, *tree, inode.position);
    }
    if (inode.view != View::hidden || inode.position > rows.size()) return std::nullopt;
    Node node;
    node.inode = inode;
    node.modified = newest();
    if (inode.position == 0) {
        node.is_folder = true;
        node.entries = static_cast<std::uint32_t>(rows.size());
        node.folders = static_cast<std::uint32_t>(
            std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.make == nullptr; }));
        return node;
    }
    if (rows[inode.position - 1].make == nullptr) return std::nullopt;
    node.nbytes = made(inode.position - 1)->size();
    return node;
}

std::optional<Node> Volume::lookup(Inode folder, std::string_view name) const {
    if (folder == Inode{} && name == hidden_name) return node({View::hidden, 0});
    if (const Tree* tree = tree_of(folder.view)) {
        if (folder.position >= tree->size() || !tree->is_folder(folder.position)) return std::nullopt;
        const std::optional<Tree::Position> child = tree->child(folder.position, name);
        if (!child) return std::nullopt;
        return tree_node(folder.view, *tree, *child);
    }
    if (folder != Inode{View::hidden, 0}) return std::nullopt;
    const auto* const row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
    if (row == rows.end()) return std::nullopt;
    return node(row_inode(static_cast<std::size_t>(row - rows.begin())));
}

Inode Volume::parent(Inode inode) const {
    if (inode.view == View::hidden) return inode.position == 0 ? Inode{} : Inode{View::hidden, 0};
    if (inode.position == Tree::root) return inode.view == View::raw ? inode : Inode{View::hidden, 0};
    return {inode.view, tree_of(inode.view)->parent(inode.position)};
}

Volume::Entry Volume::entry(Inode folder, std::uint32_t index) const {
    if (folder.view == View::hidden) return {rows[index].name, row_inode(index), rows[index].make == nullptr, true};
    const Tree& tree = *tree_of(folder.view);
    const Tree::Position child = tree.folder(folder.position).first + index;
    return {tree.name(child), {folder.view, child}, tree.is_folder(child), false};
}

Content Volume::content(const Node& node) const {
    if (node.tensor != nullptr) return raw_view(*node.tensor);
    Content content;
    content.add(made(node.inode.position - 1));
    return content;
}

}  // namespace tensorfs
