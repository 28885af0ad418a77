#include "fs/volume/volume.hpp"

#include <algorithm>
#include <utility>

#include "core/model/suffixed.hpp"
#include "core/views/views.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t block = 512;

constexpr std::string_view npy_ending = ".npy";

/// What a view puts behind the names of files.
std::string_view ending_of(View view) { return view == View::npy || view == View::f32 ? npy_ending : ""; }

std::uint64_t size_in(View view, const Tensor& tensor) {
    switch (view) {
        case View::npy: return npy_view_size(tensor);
        case View::f32: return f32_view_size(tensor);
        default: return tensor.nbytes();
    }
}

Content content_in(View view, const Tensor& tensor) {
    switch (view) {
        case View::npy: return npy_view(tensor);
        case View::f32: return f32_view(tensor);
        default: return raw_view(tensor);
    }
}

}  // namespace

Volume::Volume(Model model, std::string_view separators)
    : model_(std::move(model)), tree_(model_, separators), hidden_(model_, tree_) {
    for (const Tensor& tensor : model_.tensors()) blocks_ += (tensor.nbytes() + block - 1) / block;
}

timespec Volume::newest() const { return model_.shards()[tree_.folder(Tree::root).newest].modified(); }

const Tree* Volume::tree_of(View view) const {
    switch (view) {
        case View::raw:
        case View::npy:
        case View::f32: return &tree_;
        case View::hidden: return nullptr;
        case View::flat:
            // The rules that make the tree also make one flat folder, if nothing separates.
            std::call_once(flat_once_, [&] { flat_ = std::make_unique<const Tree>(model_, ""); });
            return flat_.get();
    }
    return nullptr;
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
        node.nbytes = size_in(view, *node.tensor);
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
    return storage = content_in(node.inode.view, *node.tensor);
}

}  // namespace tensorfs
