#include "fs/volume/xattr.hpp"

#include <linux/limits.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/formats/metadata.hpp"
#include "core/model/names.hpp"
#include "core/views/listings.hpp"

namespace tensorfs {
namespace {

// What is there to be read, and what is listed besides: tools that copy attributes fail on values that the
// filesystem they copy to does not take (ext4: what fits one block), and keep what changes with each look.
constexpr std::size_t longest_value = 64 << 10;
constexpr std::size_t longest_listed_value = 2 << 10;

constexpr std::string_view metadata_prefix = "user.model.metadata.";

/// An attribute: its name, and its value for what it describes.
template <typename Subject>
struct Attribute {
    std::string_view name;
    std::optional<std::string> (*value)(const Volume&, const Subject&);  // nothing where it has none
};

constexpr std::array<Attribute<Tensor>, 6> of_tensor{{
    {"user.tensor.dtype",
     [](const Volume&, const Tensor& t) { return std::optional(std::string(to_string(t.dtype()))); }},
    {"user.tensor.name", [](const Volume&, const Tensor& t) { return std::optional(std::string(t.name())); }},
    {"user.tensor.nbytes", [](const Volume&, const Tensor& t) { return std::optional(std::to_string(t.nbytes())); }},
    {"user.tensor.offset",
     [](const Volume&, const Tensor& t) {
         return t.is_strided() ? std::nullopt : std::optional(std::to_string(t.offset()));
     }},
    {"user.tensor.shape", [](const Volume&, const Tensor& t) { return std::optional(to_string(t.shape())); }},
    {"user.tensor.shard",
     [](const Volume& v, const Tensor& t) {
         return t.is_strided() ? std::nullopt : std::optional(v.model().shard_path(t));
     }},
}};

constexpr std::array<Attribute<Tree::Folder>, 3> of_folder{{
    {"user.tensor.count",
     [](const Volume&, const Tree::Folder& f) { return std::optional(std::to_string(f.tensors)); }},
    {"user.tensor.nbytes",
     [](const Volume&, const Tree::Folder& f) { return std::optional(std::to_string(f.nbytes)); }},
    {"user.tensor.parameters",
     [](const Volume&, const Tree::Folder& f) { return std::optional(std::to_string(f.parameters)); }},
}};

constexpr std::array<Attribute<Tree::Folder>, 6> of_root{{
    {"user.model.format", [](const Volume& v, const Tree::Folder&) { return std::optional(v.model().format_names()); }},
    {"user.model.nbytes", [](const Volume&, const Tree::Folder& f) { return std::optional(std::to_string(f.nbytes)); }},
    {"user.model.parameters",
     [](const Volume&, const Tree::Folder& f) { return std::optional(std::to_string(f.parameters)); }},
    {"user.model.shards",
     [](const Volume& v, const Tree::Folder&) { return std::optional(std::to_string(v.model().shards().size())); }},
    {"user.model.source", [](const Volume& v, const Tree::Folder&) { return std::optional(v.model().location()); }},
    {"user.model.tensors",
     [](const Volume&, const Tree::Folder& f) { return std::optional(std::to_string(f.tensors)); }},
}};

template <typename Subject, std::size_t size>
std::optional<std::string> find_in(const std::array<Attribute<Subject>, size>& table, std::string_view name,
                                   const Volume& volume, const Subject& subject) {
    const auto* const found =
        std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
    if (found == table.end()) return std::nullopt;
    return found->value(volume, subject);
}

/// Names of attributes, and the metadata's values for them, in the order in which they are listed.
std::vector<std::pair<std::string, const MetadataValue*>> metadata_attributes(const Model& model) {
    std::vector<std::pair<std::string, const MetadataValue*>> all;
    for (const Metadata& metadata : model.metadata()) {
        for (const auto& [key, value] : metadata) {
            std::string name = std::string(metadata_prefix) + escape_segment(key);
            if (name.size() <= XATTR_NAME_MAX && !key.empty() && !std::holds_alternative<NotKept>(value))
                all.emplace_back(std::move(name), &value);
        }
    }
    const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(all.begin(), all.end(), by_name);
    all.erase(std::unique(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
              all.end());
    return all;
}

void append_name(std::string& list, std::string_view name) {
    if (list.size() + name.size() + 1 > XATTR_LIST_MAX) return;
    list += name;
    list += '\0';
}

}  // namespace

std::optional<std::string> xattr(const Volume& volume, const Node& node, std::string_view name) {
    if (node.tensor != nullptr) return find_in(of_tensor, name, volume, *node.tensor);
    if (node.sums == nullptr) return std::nullopt;
    if (auto value = find_in(of_folder, name, volume, *node.sums)) return value;
    if (node.inode != Inode{}) return std::nullopt;
    if (auto value = find_in(of_root, name, volume, *node.sums)) return value;
    if (!name.starts_with(metadata_prefix)) return std::nullopt;
    for (const auto& [attribute, value] : metadata_attributes(volume.model())) {
        if (attribute != name) continue;
        std::string text = to_string(*value);
        return text.size() <= longest_value ? std::optional(std::move(text)) : std::nullopt;
    }
    return std::nullopt;
}

std::string xattr_names(const Volume& volume, const Node& node) {
    std::string list;
    if (node.tensor != nullptr) {
        for (const auto& attribute : of_tensor) {
            const std::optional<std::string> value = attribute.value(volume, *node.tensor);
            if (value && value->size() <= longest_listed_value) append_name(list, attribute.name);
        }
    }
    if (node.sums != nullptr) {
        if (node.inode == Inode{}) {
            for (const auto& attribute : of_root) append_name(list, attribute.name);
        }
        for (const auto& attribute : of_folder) append_name(list, attribute.name);
        if (node.inode == Inode{}) {
            for (const auto& [attribute, value] : metadata_attributes(volume.model())) {
                if (to_string(*value).size() <= longest_listed_value) append_name(list, attribute);
            }
        }
    }
    return list;
}

}  // namespace tensorfs
