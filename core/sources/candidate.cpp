#include "core/sources/candidate.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/natural_order.hpp"
#include "core/base/path.hpp"
#include "core/sources/folder.hpp"

namespace tensorfs {
namespace {

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The index at `path`, or nothing: what is wrong with it is told when it is chosen.
std::optional<Index> try_to_read(const std::string& path, std::span<const Format> formats) {
    try {
        return Index::read(path, formats);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void add_indexed(std::vector<Candidate>& found, const std::string& folder, const std::vector<std::string>& names,
                 std::span<const Format> formats) {
    for (const std::string& name : names) {
        const Format* format = format_of_index(name, formats);
        const bool is_telling = format != nullptr;
        // Where the name does not tell, the weight map does: it names shards.
        const auto has_name = [&](const Format& f) { return parse_index_name(name, f.files).has_value(); };
        if (!is_telling && std::none_of(formats.begin(), formats.end(), has_name)) continue;
        std::optional<Index> index = try_to_read(join_path(folder, name), index_formats(name, formats));
        if (!is_telling) format = index ? index->format() : nullptr;
        if (format == nullptr) continue;
        if (std::optional<SetName> parts = parse_index_name(name, format->files))
            found.push_back({format, std::move(*parts), {}, name, std::move(index), {}});
    }
}

/// The sets of a format by the names of their shards in `subfolder`.
void add_loose(std::vector<Candidate>& found, const std::string& subfolder, const std::vector<std::string>& names,
               const Format& format) {
    std::map<std::tuple<std::string, std::string, unsigned long>, std::size_t> places;
    const FileNames& files = format.files;
    for (const std::string& name : names) {
        std::optional<SetName> parts = parse_shard_name(name, files);
        if (!parts) continue;
        parts->number = 0;
        const bool is_piece = parts->count == 0 && !files.pieces.empty() && fits(parts->base, files.pieces);
        const std::string base = is_piece ? std::string(files.pieces) : parts->base;
        const auto [at, is_new] = places.try_emplace({base, parts->variant, parts->count}, found.size());
        if (is_new) {
            found.push_back({&format, *parts, subfolder, {}, {}, {}});
            found.back().is_sidecar = fits_any(std::string_view(name).substr(0, name.rfind('.')), files.sidecars);
        }
        Candidate& candidate = found[at->second];
        candidate.shards.push_back(subfolder + name);
        candidate.is_in_pieces = is_piece && candidate.shards.size() > 1;
    }
}

bool has_quantisations(const Format& format) { return format.files.variants == Variants::quantisations; }

/// Names in a folder; none where it is no folder that we could show.
std::vector<std::string> names_if_folder(const std::string& path) {
    std::error_code unreadable;
    if (!std::filesystem::is_directory(path, unreadable)) return {};
    try {
        return names_in(path);
    } catch (const Error&) {
        return {};
    }
}

/// The quantisations that lie in folders of their own.
std::vector<Candidate> in_subfolders(const std::string& folder, const std::vector<std::string>& names,
                                     std::span<const Format> formats) {
    std::vector<Candidate> found;
    if (std::none_of(formats.begin(), formats.end(), has_quantisations)) return found;
    for (const std::string& name : names) {
        const std::vector<std::string> inner = names_if_folder(join_path(folder, name));
        for (const Format& format : formats) {
            const std::size_t before = found.size();
            add_loose(found, name + '/', inner, format);
            if (found.size() != before && !has_quantisations(format)) return {};  // these folders are a pipeline
        }
        if (std::any_of(inner.begin(), inner.end(), [&](auto& file) { return format_of_index(file, formats); }))
            return {};
    }
    return found;
}

}  // namespace

bool Candidate::is_of(std::string_view variant) const {
    const Variants variants = format->files.variants;
    if (is_of_variant(name, variant, variants)) return true;
    if (variant.empty() || subfolder.empty()) return false;
    return is_of_variant({subfolder.substr(0, subfolder.size() - 1), {}}, variant, variants);
}

bool Candidate::names(const std::string& shard) const {
    if (index) return std::binary_search(index->shards().begin(), index->shards().end(), shard);
    const std::optional<SetName> parts = parse_shard_name(shard, format->files);
    return has_index() && parts && parts->base == name.base && parts->variant == name.variant;
}

std::vector<Candidate> all_candidates(const std::string& folder, const std::vector<std::string>& names,
                                      std::span<const Format> formats) {
    std::vector<Candidate> all;
    add_indexed(all, folder, names, formats);
    std::vector<Candidate> loose;
    for (const Format& format : formats) add_loose(loose, {}, names, format);
    const std::size_t indexed = all.size();
    for (Candidate& candidate : loose) {
        const auto is_owner = [&](const Candidate& c) {
            return std::all_of(candidate.shards.begin(), candidate.shards.end(),
                               [&](const std::string& shard) { return c.names(shard); });
        };
        if (std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(indexed), is_owner))
            all.push_back(std::move(candidate));
    }
    if (std::all_of(all.begin(), all.end(), [](const Candidate& c) { return has_quantisations(*c.format); })) {
        for (Candidate& candidate : in_subfolders(folder, names, formats)) all.push_back(std::move(candidate));
    }
    return all;
}

std::vector<std::string> all_shards(const Candidate& candidate) {
    constexpr unsigned long most = 100'000;
    const unsigned long count = candidate.name.count;
    if (count == 0 || count > most) return candidate.shards;
    std::set<unsigned long> numbers;
    for (const std::string& shard : candidate.shards)
        numbers.insert(parse_shard_name(file_name_of(shard), candidate.format->files)->number);
    std::set<std::string, decltype(&natural_less)> all(candidate.shards.begin(), candidate.shards.end(), natural_less);
    const unsigned long first = numbers.contains(0) ? 0 : 1;
    for (unsigned long number = first; number < first + count; ++number) {
        if (!numbers.contains(number)) all.insert(with_number(candidate.shards.front(), number));
    }
    return {all.begin(), all.end()};
}

std::vector<std::string> shards_behind(const std::string& file_name, std::span<const Format> formats) {
    for (const Format& format : formats) {
        std::optional<SetName> name = parse_shard_name(file_name, format.files);
        if (format.files.first_is_all && name && name->number == 1)
            return all_shards({&format, std::move(*name), {}, {}, {}, {file_name}});
    }
    return {file_name};
}

}  // namespace tensorfs
