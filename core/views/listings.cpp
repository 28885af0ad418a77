#include "core/views/listings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "core/base/json_text.hpp"
#include "core/formats/metadata.hpp"
#include "core/views/views.hpp"

namespace tensorfs {

std::string to_string(Shape shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string tensor_json(const Model& model, const Tensor& tensor, const std::string& path) {
    return fmt::format(R"({{"name":{},{}"dtype":"{}","shape":{},"shard":{},{}"nbytes":{}}})",
                       json_string(tensor.name()), path.empty() ? "" : fmt::format(R"("path":{},)", json_string(path)),
                       to_string(tensor.dtype()), to_string(tensor.shape()), json_string(model.shard_path(tensor)),
                       tensor.is_strided() ? "" : fmt::format(R"("offset":{},)", tensor.offset()), tensor.nbytes());
}

std::string tensors_json(const Model& model, const Tree& tree) {
    std::string text = "[";
    std::string_view separator = "\n";
    std::vector<Tree::Position> ahead{Tree::root};  // depth first, as `find` walks
    while (!ahead.empty()) {
        const Tree::Position node = ahead.back();
        ahead.pop_back();
        if (tree.is_folder(node)) {
            const Tree::Folder& folder = tree.folder(node);
            for (std::uint32_t i = folder.count; i-- > 0;) ahead.push_back(folder.first + i);
            continue;
        }
        text += separator;
        text += tensor_json(model, model.tensors()[tree.tensor(node)], tree.path(node));
        separator = ",\n";
    }
    return text + "\n]\n";
}

std::string metadata_json(const Model& model) {
    std::string text = "{";
    for (std::size_t i = 0; i < model.shards().size(); ++i) {
        text += fmt::format("{}\n  {}: {{", i == 0 ? "" : ",", json_string(model.shard_name(i)));
        std::string_view separator = "\n";
        for (const auto& [key, value] : model.read_metadata(i, Keep::all)) {
            text += fmt::format("{}    {}: {}", separator, json_string(key), to_json(value));
            separator = ",\n";
        }
        text += separator == "\n" ? "}" : "\n  }";
    }
    return text + "\n}\n";
}

std::string quantised_types(std::span<const FileTensor> tensors) {
    std::string text;
    std::string storage;
    for (const FileTensor& file_tensor : tensors) {
        if (!is_quantised(file_tensor.dtype)) continue;
        const Tensor& tensor = *file_tensor.tensor;
        text +=
            fmt::format(R"({}{}:{{"dtype":"{}","shape":{}}})", text.empty() ? "{" : ",",
                        json_string(utf8_name(tensor, storage)), to_string(tensor.dtype()), to_string(tensor.shape()));
    }
    return text.empty() ? text : text + '}';
}

std::string problems_json(const Model& model) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Problem& problem : model.problems()) {
        nlohmann::ordered_json& one = all.emplace_back();
        one["kind"] = to_string(problem.kind);
        one["path"] = problem.path;
        if (!problem.tensor.empty()) one["tensor"] = problem.tensor;
        one["text"] = problem.text;
    }
    return json_text(all, 2) + "\n";
}

}  // namespace tensorfs
