#include "core/sources/hub.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/path.hpp"
#include "core/sources/folder.hpp"

namespace tensorfs {
namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Puts the values of variables in the place of "$NAME" and "${NAME}"; what is not set stays as it is written.
std::string with_variables(std::string_view text) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    std::string expanded;
    while (true) {
        const std::size_t dollar = text.find('$');
        expanded += text.substr(0, dollar);
        if (dollar == std::string_view::npos) return expanded;
        text.remove_prefix(dollar + 1);
        const bool has_braces = text.starts_with('{');
        const std::string_view rest = text.substr(has_braces ? 1 : 0);
        const std::string name(rest.substr(0, rest.find_first_not_of(letters)));
        const bool is_whole = !has_braces || rest.substr(name.size()).starts_with('}');
        const char* const value = name.empty() || !is_whole ? nullptr : std::getenv(name.c_str());
        expanded += value == nullptr ? "$" : value;
        if (value != nullptr) text.remove_prefix(name.size() + (has_braces ? 2 : 0));
    }
}

/// A user's home folder by the system's list of users; nothing where there is no such user.
std::optional<std::string> home_of(const std::string& user) {
    std::vector<char> buffer(16 << 10);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return std::nullopt;
    return found->pw_dir;
}

/// Puts the home folder in the place of "~" or "~USER" at the beginning; that of an unknown user stays as it is.
std::string with_home(std::string path) {
    if (!path.starts_with('~')) return path;
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string user = path.substr(1, end - 1);
    if (const auto home = user.empty() ? std::optional(variable("HOME")) : home_of(user)) path.replace(0, end, *home);
    return path;
}

/// A variable that holds a path, in which "~" and "~USER" stand for home folders, and "$NAME" for another
/// variable. (huggingface_hub does so with each of them.)
std::string path_variable(const char* name) { return with_variables(with_home(variable(name))); }

bool is_word(std::string_view text) {
    const auto is_allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    return !text.empty() && text != "." && text != ".." && std::all_of(text.begin(), text.end(), is_allowed);
}

/// The commit that a ref names; "" if there is no such ref. A ref is a line of hexadecimal digits.
std::string read_ref(const std::string& folder, const std::string& revision) {
    const std::string path = join_path(join_path(folder, "refs"), revision);
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) return {};
    if (error) throw Error(system_problem(path, "cannot look at the ref", error.value()));
    if (!std::filesystem::is_regular_file(status))
        throw Error({Kind::NotRegularFile, path, {}, "the ref is no regular file"});
    std::ifstream in(path);
    std::string commit;
    in >> commit;
    if (!is_word(commit)) {
        throw Error({Kind::NoSuchSource, path, {}, "the ref does not hold the name of a snapshot"});
    }
    return commit;
}

}  // namespace

bool is_hub_id(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return is_word(text);
    return is_word(text.substr(0, slash)) && is_word(text.substr(slash + 1));
}

std::string hub_cache() {
    for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
        if (std::string cache = path_variable(name); !cache.empty()) return cache;
    }
    if (const std::string home = path_variable("HF_HOME"); !home.empty()) return join_path(home, "hub");
    if (const std::string cache = path_variable("XDG_CACHE_HOME"); !cache.empty())
        return join_path(cache, "huggingface/hub");
    if (const std::string home = variable("HOME"); !home.empty()) return join_path(home, ".cache/huggingface/hub");
    return {};
}

std::string hub_folder(const std::string& cache, std::string_view id) {
    std::string name = "models--";
    for (const char c : id) {
        if (c == '/') {
            name += "--";
        } else {
            name += c;
        }
    }
    return join_path(cache, name);
}

bool is_hub_folder(const std::vector<std::string>& names) {
    const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    return has("snapshots") && (has("refs") || has("blobs"));
}

std::string hub_snapshot(const std::string& folder, const std::string& revision) {
    const std::string snapshots = join_path(folder, "snapshots");
    const std::vector<std::string> all = names_in(snapshots);
    const auto fail = [&](Kind kind, const std::string& why) {
        throw Error({kind, folder, {}, fmt::format("{}; the snapshots are: {}", why, fmt::join(all, ", "))});
    };
    std::string wanted = read_ref(folder, revision.empty() ? "main" : revision);
    if (wanted.empty()) {
        if (revision.empty() && all.size() == 1) return join_path(snapshots, all.front());
        if (revision.empty()) fail(Kind::AmbiguousSource, "it has no ref \"main\" (-o revision=NAME chooses)");
        wanted = revision;
    }
    if (std::find(all.begin(), all.end(), wanted) != all.end()) return join_path(snapshots, wanted);
    std::vector<std::string> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const std::string& name) { return name.starts_with(wanted); });
    if (found.empty()) fail(Kind::NoSuchSource, "the snapshot " + in_quotes(wanted) + " is not there");
    if (found.size() > 1) fail(Kind::AmbiguousSource, "several snapshots begin with " + in_quotes(wanted));
    return join_path(snapshots, found.front());
}

}  // namespace tensorfs
