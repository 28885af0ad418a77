#include "core/sources/source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/path.hpp"
#include "core/sources/candidate.hpp"
#include "core/sources/folder.hpp"
#include "core/sources/hub.hpp"
#include "core/sources/set_name.hpp"

namespace tensorfs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view pipeline_file = "model_index.json";

class Finder {
public:
    Finder(const std::string& path, const SourceOptions& options, std::span<const Format> formats)
        : options_(options), formats_(formats) {
        source_.path = path;
        source_.key = options.key;
    }

    Source find() {
        std::error_code error;
        const fs::file_status status = fs::status(source_.path, error);
        if (status.type() == fs::file_type::not_found) {
            use_hub_id();
        } else if (error) {
            throw Error(system_problem(source_.path, "cannot look at it", error.value()));
        } else if (fs::is_directory(status)) {
            use_folder(source_.path);
        } else {
            use_file();
        }
        for (const Component& component : source_.components) {
            if (component.shards.empty())
                throw Error({Kind::NotAModel, component.index_path, {}, "the index lists no tensors"});
        }
        std::sort(source_.components.begin(), source_.components.end(),
                  [](const Component& a, const Component& b) { return a.name + '/' < b.name + '/'; });
        return std::move(source_);
    }

private:
    void use_hub_id() {
        const std::string cache = hub_cache();
        std::string why = "there is no such file or folder";
        if (is_hub_id(source_.path) && !cache.empty()) {
            const std::string folder = hub_folder(cache, source_.path);
            std::error_code error;
            const fs::file_status status = fs::status(folder, error);
            if (fs::is_directory(status)) {
                use_folder(folder);
                return;
            }
            if (status.type() != fs::file_type::not_found && error) {
                throw Error(system_problem(folder, "cannot look at it", error.value()));
            }
            why += ", and the Hub's cache has no " + in_quotes(folder);
        }
        throw Error({Kind::NoSuchSource, source_.path, {}, std::move(why)});
    }

    void use_file() {
        if (!options_.choice.index.empty() || !options_.choice.variant.empty() || !options_.revision.empty()) {
            throw Error({Kind::NoSuchSource,
                         source_.path,
                         {},
                         "this is a file: index, variant and revision choose what is in a folder"});
        }
        const fs::path file(source_.path);
        source_.location = absolute_path(source_.path);
        Component component;
        component.folder = file.parent_path().string();
        if (file.extension() == ".json") {
            component.index_path = source_.path;
            component.index = Index::read(source_.path, index_formats(file.filename().string(), formats_));
            component.shards = component.index->shards();
        } else {
            component.shards = shards_behind(file.filename().string(), formats_);
        }
        source_.components.push_back(std::move(component));
    }

    void use_folder(const std::string& folder) {
        const std::vector<std::string> names = names_in(folder);
        if (is_hub_folder(names)) {
            use_folder(hub_snapshot(folder, options_.revision));
            return;
        }
        source_.location = absolute_path(folder);
        const bool has_pipeline_file = std::find(names.begin(), names.end(), pipeline_file) != names.end();
        const bool is_pipeline = has_pipeline_file && options_.choice.index.empty();
        if (is_pipeline && use_pipeline(folder, names)) {
            note_what_lies_beside(names);
            return;
        }
        if (use_set(folder, names, {}, options_.choice) || (!is_pipeline && use_pipeline(folder, names))) return;
        throw Error({Kind::NotAModel,
                     folder,
                     {},
                     fmt::format("the folder has no {} file and no index of any", suffixes_of(formats_))});
    }

    void note_what_lies_beside(const std::vector<std::string>& names) {
        std::vector<std::string_view> suffixes;  // of what lies beside a pipeline's folders
        for (const std::string& name : names) {
            const std::string_view suffix = std::string_view(name).substr(std::min(name.rfind('.'), name.size()));
            const auto has_name = [&](const Format& f) { return parse_shard_name(name, f.files).has_value(); };
            if (std::any_of(formats_.begin(), formats_.end(), has_name) &&
                std::find(suffixes.begin(), suffixes.end(), suffix) == suffixes.end())
                suffixes.push_back(suffix);
        }
        if (suffixes.empty()) return;
        source_.notes.push_back(fmt::format("the pipeline's folders are shown; {} files beside them are passed over",
                                            fmt::join(suffixes, " and ")));
    }

    /// Adds the set of shards in a folder as a component; false where there is none.
    bool use_set(const std::string& folder, const std::vector<std::string>& names, const std::string& component_name,
                 const Choice& choice) {
        std::optional<ShardSet> set = find_shards(folder, names, choice, formats_);
        if (!set) return false;
        Component component;
        component.name = component_name;
        component.folder = folder;
        component.shards = std::move(set->shards);
        component.index = std::move(set->index);
        if (!set->index_name.empty()) component.index_path = join_path(folder, set->index_name);
        if (!set->instead.empty()) component.instead = join_path(folder, set->instead);
        for (const std::string& note : set->notes) {
            source_.notes.push_back(component_name.empty() ? note : fmt::format("{}: {}", component_name, note));
        }
        source_.components.push_back(std::move(component));
        return true;
    }

    /// Adds each folder in `folder` that has a set of shards; false where none has.
    bool use_pipeline(const std::string& folder, const std::vector<std::string>& names) {
        const std::string& variant = options_.choice.variant;
        bool has_variant = variant.empty();
        std::vector<std::string> without;
        for (const std::string& name : names) {
            const std::string path = join_path(folder, name);
            std::error_code unreadable;  // then it is no folder that we could show
            if (!fs::is_directory(path, unreadable)) continue;
            const std::vector<std::string> inner = names_in(path);
            // As diffusers does: a component that has not the variant is taken without.
            const bool has_it = std::any_of(inner.begin(), inner.end(), [&](const std::string& file) {
                return is_of_variant(file, variant, formats_);
            });
            try {
                if (!use_set(path, inner, name, {{}, has_it ? variant : std::string()})) continue;
            } catch (const Error& e) {
                source_.problems.insert(source_.problems.end(), e.problems().begin(), e.problems().end());
                continue;
            }
            has_variant = has_variant || has_it;
            if (!has_it) without.push_back(name);
        }
        if (source_.components.empty() && !source_.problems.empty()) throw Error(source_.problems);
        if (!source_.components.empty() && !has_variant) {
            throw Error({Kind::NoSuchSource, folder, {}, "no component has a variant " + in_quotes(variant)});
        }
        if (!variant.empty() && !without.empty()) {
            source_.notes.push_back(fmt::format("without the variant {}, as they have none: {}", in_quotes(variant),
                                                fmt::join(without, ", ")));
        }
        return !source_.components.empty();
    }

    const SourceOptions& options_;
    std::span<const Format> formats_;
    Source source_;
};

}  // namespace

Source find_source(const std::string& path, const SourceOptions& options, std::span<const Format> formats) {
    return Finder(path, options, formats).find();
}

}  // namespace tensorfs
