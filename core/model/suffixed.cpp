#include "core/model/suffixed.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/model/names.hpp"

namespace tensorfs {

std::string_view suffixed_name(const Tree& tree, Tree::Position node, std::string_view ending, std::string& storage) {
    if (tree.is_folder(node)) return tree.name(node);
    const std::string_view name = tree.name(node);
    storage = name;
    storage += ending;
    if (storage.size() <= max_segment) {
        const std::optional<Tree::Position> same = tree.child(tree.parent(node), storage);
        if (!same || !tree.is_folder(*same)) return storage;
    }
    const Tree::Position place = node - tree.folder(tree.parent(node)).first;
    storage = with_suffix(name, fmt::format("%~{}{}", place, ending));
    return storage;
}

std::optional<Tree::Position> suffixed_child(const Tree& tree, Tree::Position folder, std::string_view name,
                                             std::string_view ending) {
    if (const auto child = tree.child(folder, name); child && tree.is_folder(*child)) return child;
    if (!name.ends_with(ending)) return std::nullopt;
    std::string storage;
    const auto has_the_name = [&](Tree::Position node) {
        return !tree.is_folder(node) && suffixed_name(tree, node, ending, storage) == name;
    };
    const std::string_view stem = name.substr(0, name.size() - ending.size());
    if (const auto child = tree.child(folder, stem); child && has_the_name(*child)) return child;

    const std::size_t percent = stem.rfind("%~");
    if (percent == std::string_view::npos) return std::nullopt;
    Tree::Position place = 0;
    const auto [end, error] = std::from_chars(stem.data() + percent + 2, stem.data() + stem.size(), place);
    if (error != std::errc{} || end != stem.data() + stem.size() || place >= tree.folder(folder).count)
        return std::nullopt;
    const Tree::Position node = tree.folder(folder).first + place;
    return has_the_name(node) ? std::optional(node) : std::nullopt;
}

}  // namespace tensorfs
