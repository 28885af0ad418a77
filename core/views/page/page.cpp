#include "core/views/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/escape.hpp"
#include "core/base/json_text.hpp"
#include "core/base/path.hpp"
#include "core/formats/metadata.hpp"
#include "core/model/suffixed.hpp"
#include "core/views/listings.hpp"
#include "core/views/page/page_source.hpp"
#include "core/views/views.hpp"

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

/// A path as a URL has it: bytes that may mean something there, or are no characters, as %XX.
std::string url_of(std::string_view path) {
    std::string url;
    for (const char c : path) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                              std::string_view("-._~/").find(c) != std::string_view::npos;
        url += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return url;
}

/// A path to be shown: a pipeline's folder can have bytes that are no characters, which become %XX, as in utf8_name().
std::string shown_path(std::string path) {
    if (is_utf8(path)) return path;
    std::string shown;
    for (std::size_t at = 0, length = 0; at < path.size(); at += std::max<std::size_t>(length, 1)) {
        length = utf8_length(std::string_view(path).substr(at));
        shown += length == 0 ? fmt::format("%{:02X}", static_cast<unsigned char>(path[at])) : path.substr(at, length);
    }
    return shown;
}

/// Tensors in columns, depth first through the tree. A path is how many of the last one's folders it begins with, and
/// the rest; a name is 0 where it is the path with dots for slashes. Links are those that do not follow from the path.
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
                std::string path = tree.path(node);
                add_links(tree, node, path);
                add(model.tensors()[tree.tensor(node)], shown_path(std::move(path)));
            }
        }
    }

    [[nodiscard]] std::string json() const {
        return fmt::format(
            R"("dtypes":{},"shapes":{},"folders":{},"rests":{},"names":{},"dtype":{},"shape":{},"shard":{},)"
            R"("offset":{},"nbytes":{},"links":{})",
            dtypes_.json(), shapes_.json(), folders_.json(), rests_.json(), names_.json(), dtype_.json(), shape_.json(),
            shard_.json(), offset_.json(), nbytes_.json(), links_.json());
    }

private:
    /// Where a path is shown otherwise than it is, or an array's file is not called as the tensor's and ".npy".
    void add_links(const Tree& tree, Tree::Position node, const std::string& path) {
        constexpr std::string_view ending = ".npy";
        std::string storage;
        const std::string_view name = suffixed_name(tree, node, ending, storage);
        if (name.size() == tree.name(node).size() + ending.size() && is_utf8(path)) return;
        const std::string array = join_path(tree.path(tree.parent(node)), std::string(name));
        links_.add(fmt::format(R"([{},"{}","{}"])", count_, url_of(path), url_of(array)));
    }

    void add(const Tensor& tensor, const std::string& path) {
        const std::size_t common = common_folders(path, last_);
        folders_.add(
            static_cast<std::uint64_t>(std::count(path.begin(), path.begin() + static_cast<long>(common), '/')));
        rests_.add(json_string(std::string_view(path).substr(common)));
        std::string dotted = path;
        std::replace(dotted.begin(), dotted.end(), '/', '.');
        const std::string_view name = utf8_name(tensor, storage_);
        names_.add(dotted == name ? "0" : json_string(name));
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
    Column links_;
    std::string last_;
    std::string storage_;
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
