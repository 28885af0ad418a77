#include "core/exporting/target.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/path.hpp"
#include "core/exporting/target_error.hpp"
#include "core/formats/formats.hpp"
#include "core/sources/folder.hpp"
#include "core/sources/set_name.hpp"

namespace tensorfs {
namespace {

std::optional<struct stat> look_at(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    return found;
}

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
    throw TargetError(fmt::format("{}: {}", printable(path), why));
}

/// Whether both paths lead to one folder.
bool is_same_folder(const std::string& path, const std::string& folder) {
    const std::optional<struct stat> a = look_at(path);
    const std::optional<struct stat> b = look_at(folder);
    return a && b && is_same(*a, *b);
}

constexpr std::string_view becomes_another =
    "it would lie among the source's own files, so that the source could be another model from then on; choose another "
    "folder, or --force";

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

/// Whether a file of that name counts where a model is looked for in a folder.
bool counts(const std::string& name) {
    return std::any_of(formats().begin(), formats().end(), [&](const Format& format) {
        return parse_shard_name(name, format.files) || parse_index_name(name, format.files);
    });
}

class Checker {
public:
    Checker(const Model& model, const ExportPlan& plan, const ExportTarget& target)
        : model_(model), plan_(plan), target_(target) {}

    Stage::Target check() const {
        if (!plan_.is_folder()) {
            check_file(target_.path);
            check_neighbours(folder_of(target_.path), std::filesystem::path(target_.path).filename().string());
            return Stage::Target::file;
        }
        struct stat link {};
        if (::lstat(target_.path.c_str(), &link) != 0) {
            if (errno != ENOENT) refuse(target_.path, system_message(errno));
            check_new_part();
            return Stage::Target::new_folder;
        }
        check_folder();
        return Stage::Target::present_folder;
    }

private:
    /// That a file can be written at `path`.
    void check_file(const std::string& path) const {
        struct stat link {};
        if (::lstat(path.c_str(), &link) != 0) {
            if (errno != ENOENT) refuse(path, system_message(errno));
            return;
        }
        const std::optional<struct stat> file = look_at(path);  // nothing behind a link that leads nowhere
        if (file && S_ISDIR(file->st_mode)) refuse(path, "it is a folder; --max-shard-size writes a model into one");
        if (file && !S_ISREG(file->st_mode)) refuse(path, "it is there already, and no regular file");
        if (file && is_own(*file)) refuse(path, "it is a file of the source itself, which is never written");
        if (!target_.may_replace) refuse(path, "it is there already; --force replaces it");
    }

    void check_folder() const {
        const std::optional<struct stat> folder = look_at(target_.path);
        if (!folder || !S_ISDIR(folder->st_mode)) {
            refuse(target_.path, "it is there already, and no folder, which --max-shard-size needs");
        }
        const std::vector<std::string> present = names_in(target_.path);
        if (!present.empty() && !target_.may_replace) {
            refuse(target_.path, "it is there already, and not empty; --force writes into it");
        }
        const std::vector<std::string> names = plan_.names();
        for (const std::string& name : names) {
            check_file(join_path(target_.path, name));
            check_neighbours(target_.path, name);
        }
        for (const std::string& name : present) {
            if (!counts(name) || std::find(names.begin(), names.end(), name) != names.end()) continue;
            refuse(join_path(target_.path, name), "it is there already, and would be mixed with what is written");
        }
    }

    [[nodiscard]] bool is_own(const struct stat& file) const {
        const auto& shards = model_.shards();
        if (std::any_of(shards.begin(), shards.end(), [&](const Shard& shard) { return shard.is(file); })) return true;
        return std::any_of(target_.own_files.begin(), target_.own_files.end(), [&](const std::string& own) {
            const std::optional<struct stat> found = look_at(own);
            return found && is_same(*found, file);
        });
    }

    /// That a source of folders does not get one more.
    void check_new_part() const {
        if (target_.may_replace || !is_same_folder(folder_of(target_.path), model_.location())) return;
        const auto& shards = model_.shards();
        const bool is_of_folders = std::none_of(shards.begin(), shards.end(), [&](const Shard& shard) {
            return is_same_folder(folder_of(shard.path()), model_.location());
        });
        if (is_of_folders) refuse(target_.path, becomes_another);
    }

    /// That the source's folder goes on being the model that it is.
    void check_neighbours(const std::string& folder, const std::string& name) const {
        if (target_.may_replace || !counts(name)) return;
        const std::optional<struct stat> source = look_at(model_.location());
        if (!source || !S_ISDIR(source->st_mode)) return;
        bool is_in_source = is_same_folder(folder, model_.location());
        std::string last;  // shards of one folder stand together
        for (const Shard& shard : model_.shards()) {
            if (is_in_source) break;
            std::string of_shard = folder_of(shard.path());
            if (of_shard != last) is_in_source = is_same_folder(folder, of_shard);
            last = std::move(of_shard);
        }
        if (is_in_source) refuse(join_path(folder, name), becomes_another);
    }

    const Model& model_;
    const ExportPlan& plan_;
    const ExportTarget& target_;
};

}  // namespace

Stage::Target check_target(const Model& model, const ExportPlan& plan, const ExportTarget& target) {
    return Checker(model, plan, target).check();
}

}  // namespace tensorfs
