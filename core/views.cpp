#include "core/views.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace tensorfs {

Content raw_view(const Tensor& tensor) {
    Content content;
    content.add(Slice{tensor.shard(), tensor.offset(), tensor.nbytes()});
    return content;
}

std::string to_string(Shape shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string tensor_json(const Model& model, const Tensor& tensor, const std::string& path) {
    return fmt::format(R"({{"name":{},{}"dtype":"{}","shape":{},"shard":{},"offset":{},"nbytes":{}}})",
                       json_string(tensor.name()), path.empty() ? "" : fmt::format(R"("path":{},)", json_string(path)),
                       to_string(tensor.dtype()), to_string(tensor.shape()), json_string(model.shard_path(tensor)),
                       tensor.offset(), tensor.nbytes());
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
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < model.shards().size(); ++i) {
        nlohmann::ordered_json& one = all[model.shard_name(i)] = nlohmann::ordered_json::object();
        for (const auto& [key, value] : model.metadata()[i]) one[key] = value;
    }
    return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tensorfs
