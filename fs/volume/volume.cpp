#include "fs/volume/volume.hpp"

#include <algorithm>
#include <utility>

#include "core/model/suffixed.hpp"
#include "core/views/view_table.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t stat_block = 512;

const TensorView* view_of(View view) { return tensor_view(static_cast<std::uint8_t>(view)); }

/// What a view puts behind the names of files. REQUIRES: it shows tensors.
std::string_view ending_of(View view) { return view_of(view)->ending; }

}  // namespace

Volume::Volume(Model model, std::string_view separators)
    : model_(std::move(model)), tree_(model_, separators), hidden_(model_, tree_) {
    for (const Tensor& tensor : model_.tensors()) blocks_ += (tensor.nbytes() + stat_block - 1) / stat_block;
}

timespec Volume::newest() const { return model_.shards()[tree_.folder(Tree::root).newest].modified(); }

const Tree* Volume::tree_of(View view) const {
    const TensorView* const found = view_of(view);
    if (found == nullptr) return nullptr;
    if (!found->is_flat) return &tree_;
    // The rules that make the tree also make one flat folder, if nothing separates.
    std::call_once(flat_once_, [&] { flat_ = std::make_unique<const Tree>(model_, ""); });
    return flat_.get();
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
        node.nbytes = view_of(view)->nbytes(*node.tensor);
        node.modified = model_.shards()[node.tensor->shard()].modified();
    }
    return node;
}

std::optional<Node> Volume::node(Inode inode) const {
    if (const Tree* tree = tree_of(inode.view)) {
        if (inode.position >= tree->size()) return std::nullopt;
        return tree_node(inode.view, *tree, inode.position);
    }
    if (inode.view != View::hidden) return std::nullopt;
    Node node;
    node.inode = inode;
    node.modified = newest();
    if (inode.position == 0) {
        const std::vector<Hidden::Entry>& entries = hidden_.entries();
        node.is_folder = true;
        node.entries = static_cast<std::uint32_t>(entries.size());
        node.folders = static_cast<std::uint32_t>(
            std::count_if(entries.begin(), entries.end(), [](const Hidden::Entry& entry) { return entry.is_folder; }));
        return node;
    }
    const Content* const content = hidden_.content(inode.position);
    if (content == nullptr) return std::nullopt;
    node.nbytes = content->size();
    return node;
}

std::optional<Node> Volume::lookup(Inode folder, std::string_view name) const {
    if (folder == Inode{} && name == Hidden::name) return node({View::hidden, 0});
    if (const Tree* tree = tree_of(folder.view)) {
        if (folder.position >= tree->size() || !tree->is_folder(folder.position)) return std::nullopt;
        const std::string_view ending = ending_of(folder.view);
        const std::optional<Tree::Position> child =
            ending.empty() ? tree->child(folder.position, name) : suffixed_child(*tree, folder.position, name, ending);
        if (!child) return std::nullopt;
        return tree_node(folder.view, *tree, *child);
    }
    if (folder != Inode{View::hidden, 0}) return std::nullopt;
    const std::optional<Hidden::Entry> entry = hidden_.find(name);
    return entry ? node(entry->inode) : std::nullopt;
}

Inode Volume::parent(Inode inode) const {
    if (inode.view == View::hidden) return inode.position == 0 ? Inode{} : Inode{View::hidden, 0};
    if (inode.position == Tree::root) return inode.view == View::raw ? inode : Inode{View::hidden, 0};
    return {inode.view, tree_of(inode.view)->parent(inode.position)};
}

Volume::Entry Volume::entry(Inode folder, std::uint32_t index, std::string& storage) const {
    if (folder.view == View::hidden) {
        const Hidden::Entry& entry = hidden_.entries()[index];
        return {entry.name, entry.inode, entry.is_folder, true};
    }
    const Tree& tree = *tree_of(folder.view);
    const Tree::Position child = tree.folder(folder.position).first + index;
    const std::string_view ending = ending_of(folder.view);
    const std::string_view name = ending.empty() ? tree.name(child) : suffixed_name(tree, child, ending, storage);
    return {name, {folder.view, child}, tree.is_folder(child), false};
}

const Content& Volume::content(const Node& node, Content& storage) const {
    if (node.tensor == nullptr) return *hidden_.content(node.inode.position);
    return storage = view_of(node.inode.view)->content(*node.tensor);
}

}  // namespace tensorfs
