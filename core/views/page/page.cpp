#include "core/views/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/base/path.hpp"
#include "core/formats/metadata.hpp"
#include "core/model/suffixed.hpp"
#include "core/views/listings.hpp"
#include "core/views/page/page_source.hpp"

namespace tensorfs {
namespace {

constexpr std::size_t most_metadata = 32 << 20;

/// Adds JSON in ASCII as it may stand in HTML: in JSON, these stand in strings only.
void add_safely(std::string& page, std::string_view json) {
    for (const char c : json) {
        switch (c) {
            case '<': page += "\\u003c"; break;
            case '>': page += "\\u003e"; break;
            case '&': page += "\\u0026"; break;
            default: page += c;
        }
    }
}

/// Numbers things as they come, each once.
class Numbers {
public:
    std::size_t of(const std::string& json) {
        const auto [found, is_new] = numbers_.try_emplace(json, all_.size());
        if (is_new) all_.push_back(&found->first);
        return found->second;
    }
    [[nodiscard]] std::string json() const {
        std::string text = "[";
        for (const std::string* one : all_) text += (text.size() == 1 ? "" : ",") + *one;
        return text + ']';
    }

private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<const std::string*> all_;
};

/// A list of JSON that grows.
class Column {
public:
    void add(std::string_view json) {
        text_ += text_.size() == 1 ? "" : ",";
        text_ += json;
    }
    void add(std::uint64_t number) { add(fmt::format_int(number).c_str()); }
    [[nodiscard]] std::string json() const { return text_ + ']'; }

private:
    std::string text_ = "[";
};

/// How many bytes two paths have in common in front, in whole folders.
std::size_t common_folders(std::string_view a, std::string_view b) {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t at = 0;
    std::size_t end = 0;
    while (at < most && a[at] == b[at]) {
        if (a[at++] == '/') end = at;
    }
    return end;
}

/// Tensors in columns, depth first through the tree. A path is how many of the last one's folders it begins with, and
/// the rest; a name is 0 where it is the path with dots for slashes.
class Tensors {
public:
    Tensors(const Model& model, const Tree& tree) {
        std::vector<Tree::Position> ahead{Tree::root};
        while (!ahead.empty()) {
            const Tree::Position node = ahead.back();
            ahead.pop_back();
            if (tree.is_folder(node)) {
                const Tree::Folder& folder = tree.folder(node);
                for (std::uint32_t i = folder.count; i-- > 0;) ahead.push_back(folder.first + i);
            } else {
                add_array_name(tree, node);
                add(model.tensors()[tree.tensor(node)], tree.path(node));
            }
        }
    }

    [[nodiscard]] std::string json() const {
        return fmt::format(
            R"("dtypes":{},"shapes":{},"folders":{},"rests":{},"names":{},"dtype":{},"shape":{},"shard":{},)"
            R"("offset":{},"nbytes":{},"arrays":{})",
            dtypes_.json(), shapes_.json(), folders_.json(), rests_.json(), names_.json(), dtype_.json(), shape_.json(),
            shard_.json(), offset_.json(), nbytes_.json(), arrays_.json());
    }

private:
    /// Where an array's file has another name than the tensor's and ".npy".
    void add_array_name(const Tree& tree, Tree::Position node) {
        constexpr std::string_view ending = ".npy";
        std::string storage;
        const std::string_view name = suffixed_name(tree, node, ending, storage);
        if (name.size() == tree.name(node).size() + ending.size()) return;
        const std::string folder = tree.path(tree.parent(node));
        arrays_.add(fmt::format("[{},{}]", count_, json_string(join_path(folder, std::string(name)))));
    }

    void add(const Tensor& tensor, const std::string& path) {
        const std::size_t common = common_folders(path, last_);
        folders_.add(
            static_cast<std::uint64_t>(std::count(path.begin(), path.begin() + static_cast<long>(common), '/')));
        rests_.add(json_string(std::string_view(path).substr(common)));
        std::string dotted = path;
        std::replace(dotted.begin(), dotted.end(), '/', '.');
        names_.add(dotted == tensor.full_name() ? "0" : json_string(tensor.full_name()));
        dtype_.add(dtypes_.of(fmt::format("\"{}\"", to_string(tensor.dtype()))));
        shape_.add(shapes_.of(to_string(tensor.shape())));
        shard_.add(tensor.shard());
        if (tensor.is_strided()) {
            offset_.add("-1");
        } else {
            offset_.add(tensor.offset());
        }
        nbytes_.add(tensor.nbytes());
        last_ = path;
        ++count_;
    }

    Numbers dtypes_;
    Numbers shapes_;
    Column folders_, rests_, names_, dtype_, shape_, shard_, offset_, nbytes_;
    Column arrays_;
    std::string last_;
    std::uint64_t count_ = 0;
};

std::string tensors_of(const Model& model, const Tree& tree, PagePlace place) {
    Column shards;
    for (std::size_t i = 0; i < model.shards().size(); ++i) shards.add(json_string(model.shard_name(i)));
    std::string_view name = model.location();
    name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
    Column notes;
    for (const std::string& note : model.notes()) notes.add(json_string(note));
    return fmt::format(
        R"({{"model":{},"format":{},"is_mount":{},"parameters":{},"shards":{},"notes":{},"problems":{},{}}})",
        json_string(name), json_string(model.format_names()), place == PagePlace::mount, model.parameters(),
        shards.json(), notes.json(), problems_json(model), Tensors(model, tree).json());
}

/// All metadata, or without arrays and long texts if that is too much for a page.
std::string metadata_of(const Model& model) {
    std::string all = metadata_json(model);
    if (all.size() <= most_metadata) return all;
    nlohmann::ordered_json kept = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < model.shards().size(); ++i) {
        nlohmann::ordered_json& shard = kept[model.shard_name(i)] = nlohmann::ordered_json::object();
        for (const auto& [key, value] : model.metadata()[i]) {
            if (std::holds_alternative<NotKept>(value)) {
                shard[key] = "(too long for this page: see metadata.json)";
            } else {
                shard[key] = nlohmann::ordered_json::parse(to_json(value));
            }
        }
    }
    return json_text(kept);
}

}  // namespace

std::string page(const Model& model, const Tree& tree, PagePlace place) {
    std::string text(page_source.begin);
    add_safely(text, tensors_of(model, tree, place));
    text += page_source.middle;
    add_safely(text, metadata_of(model));
    return text += page_source.end;
}

}  // namespace tensorfs
