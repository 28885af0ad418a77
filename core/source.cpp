#include "core/source.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/escape.hpp"
#include "core/natural_order.hpp"

namespace tensorfs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view shard_suffix = ".safetensors";
constexpr std::string_view index_suffix = ".safetensors.index.json";
constexpr std::string_view usual_index = "model.safetensors.index.json";

Error not_a_model(const std::string& path, std::string text) {
    return Error({Kind::NotAModel, path, {}, std::move(text)});
}

/// The names in a folder, in natural order.
std::vector<std::string> names_in(const fs::path& folder, const std::string& typed) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        names.push_back(at->path().filename().string());
    }
    if (error) throw Error(system_problem(typed, "cannot list the folder", error.value()));
    std::sort(names.begin(), names.end(), natural_less);
    return names;
}

std::vector<std::string> with_suffix(const std::vector<std::string>& names, std::string_view suffix) {
    std::vector<std::string> found;
    std::copy_if(names.begin(), names.end(), std::back_inserter(found),
                 [&](const std::string& name) { return name.ends_with(suffix) && name.front() != '.'; });
    return found;
}

/// The index that speaks for a folder; "" if it has none.
std::string choose_index(const std::vector<std::string>& names, const std::string& typed) {
    const std::vector<std::string> found = with_suffix(names, index_suffix);
    if (found.empty()) return {};
    if (found.size() == 1) return found.front();
    if (std::find(found.begin(), found.end(), usual_index) != found.end()) return std::string(usual_index);
    std::string text = "it has several indexes; name the one that is meant instead of the folder:";
    for (const std::string& name : found) text += ' ' + in_quotes(name);
    throw Error({Kind::AmbiguousSource, typed, {}, std::move(text)});
}

/// Absolute and without "." or a trailing slash, but with its symbolic links as they are.
fs::path made_absolute(const std::string& path) {
    const fs::path absolute = fs::absolute(path).lexically_normal();
    return absolute.has_filename() || absolute == absolute.root_path() ? absolute : absolute.parent_path();
}

void set_folder(Source& source, const std::string& folder) {
    source.folder = folder;
    source.absolute_folder = made_absolute(folder.empty() ? "." : folder).string();
}

void use_index(Source& source, const std::string& path) {
    source.index_path = path;
    source.index = Index::read(path);
    source.shards = source.index->shards();
}

void use_folder(Source& source, const std::string& folder) {
    const std::vector<std::string> names = names_in(folder, source.path);
    if (const std::string index = choose_index(names, source.path); !index.empty()) {
        use_index(source, Source::join(folder, index));
        return;
    }
    source.shards = with_suffix(names, shard_suffix);
    if (source.shards.empty())
        throw not_a_model(source.path, "the folder has no .safetensors file and no index of any");
}

}  // namespace

std::string Source::join(const std::string& folder, const std::string& name) {
    if (folder.empty()) return name;
    return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

std::string Source::absolute_path() const { return made_absolute(path).string(); }

Source find_source(const std::string& path) {
    Source source;
    source.path = path;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
        throw Error({Kind::NoSuchSource, path, {}, "there is no such file or folder"});
    }
    if (error) throw Error(system_problem(path, "cannot look at it", error.value()));

    if (fs::is_directory(status)) {
        set_folder(source, path);
        use_folder(source, path);
        return source;
    }
    const fs::path file(path);
    set_folder(source, file.parent_path().string());
    if (file.extension() == ".json") {
        use_index(source, path);
    } else {
        source.shards = {file.filename().string()};
    }
    return source;
}

}  // namespace tensorfs
