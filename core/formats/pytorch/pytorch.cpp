#include "core/formats/pytorch/pytorch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/base/escape.hpp"
#include "core/base/little_endian.hpp"
#include "core/formats/pytorch/archive.hpp"
#include "core/formats/pytorch/code.hpp"
#include "core/formats/pytorch/legacy.hpp"
#include "core/formats/pytorch/survey.hpp"
#include "core/formats/zip/directory.hpp"

namespace tensorfs::pytorch {
namespace {

std::string beginning_of(const Shard& shard) {
    constexpr std::uint64_t most = 64;
    std::string beginning(std::min(shard.size(), most), '\0');
    shard.read(0, beginning);
    return beginning;
}

/// A safetensors file begins with a length of at most 100,000,000, so with zeros in the upper half of it. What
/// a zip archive and a pickle have there is none.
bool may_be_safetensors(std::string_view beginning) {
    return beginning.size() < 8 || little_endian_at(beginning, 4, 4) == 0;
}

bool is_zip(std::string_view beginning) {
    return beginning.starts_with("PK\x03\x04") && !may_be_safetensors(beginning);
}

bool is_pickle(std::string_view beginning) {
    return beginning.starts_with('\x80') && beginning.size() > 1 && beginning[1] >= 2 && beginning[1] <= 5 &&
           !may_be_safetensors(beginning);
}

/// A tar archive of before PyTorch 0.1.11, by its first member.
bool is_tar(std::string_view beginning, const Shard& shard) {
    constexpr std::array<std::string_view, 4> members{"sys_info", "pickle", "tensors", "storages"};
    const std::string_view name = beginning.substr(0, beginning.find('\0'));
    if (std::find(members.begin(), members.end(), name) == members.end() || shard.size() < 512) return false;
    std::array<char, 5> magic{};
    shard.read(257, magic);
    return std::string_view(magic.data(), magic.size()) == "ustar";
}

/// Whether the first member of an archive, by its local header, is FOLDER/data.pkl. That of what PyTorch
/// writes is; the directory has the last word.
bool begins_with_object(const Shard& shard) {
    constexpr std::uint64_t fixed = 30, longest = 512;
    std::string header(std::min(shard.size(), longest), '\0');
    shard.read(0, header);
    if (header.size() < fixed) return false;
    const std::string_view name = std::string_view(header).substr(fixed, little_endian_at(header, 26, 2));
    const std::size_t slash = name.find('/');
    return slash != std::string_view::npos && name.substr(slash) == "/data.pkl";
}

void add_notes(Header& header, const std::vector<LeftOut>& left_out, std::uint64_t more) {
    constexpr std::size_t most = 100;
    for (std::size_t i = 0; i < left_out.size() && i < most; ++i) {
        header.notes.push_back(fmt::format("tensor {} is left out: {}", in_quotes(left_out[i].name), left_out[i].why));
    }
    if (left_out.size() > most) {
        header.notes.push_back(fmt::format("{} more tensors are left out", left_out.size() - most + more));
    }
}

/// What is wrong with a file that is refused, and what it would have run.
Error with_calls(std::vector<Problem> problems, const Shard& shard) {
    for (const std::string& name : survey(shard))
        problems.push_back({Kind::RunsCode, shard.path(), {}, "unpickling it would call " + name});
    return Error(std::move(problems));
}

Checkpoint read_or_refuse(const Shard& shard, std::string_view key) {
    try {
        return read_checkpoint(shard, key);
    } catch (const Error& e) {
        throw with_calls(e.problems(), shard);
    }
}

void add_tensors(Header& header, const Checkpoint& checkpoint, std::string_view prefix) {
    std::vector<HeaderEntry> entries(checkpoint.tensors.size());
    header.names.reserve(checkpoint.names.size() + entries.size() * prefix.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Found& tensor = checkpoint.tensors[i];
        HeaderEntry& entry = entries[i];
        add_name(header, entry, prefix, checkpoint.name(tensor));
        entry.dims_at = header.dims.size();
        entry.rank = tensor.rank;
        entry.begin = tensor.offset;
        entry.end = tensor.offset + tensor.nbytes;
        entry.dtype = tensor.dtype;
        entry.layout = tensor.is_contiguous ? ElementLayout::contiguous : ElementLayout::strided;
        const Shape shape = checkpoint.shape(tensor);
        header.dims.insert(header.dims.end(), shape.begin(), shape.end());
        if (tensor.is_contiguous) continue;
        const Strides strides = checkpoint.strides(tensor);
        header.dims.insert(header.dims.end(), strides.begin(), strides.end());
    }
    sort_entries(header, entries);
    make_tensors(header, std::move(entries), 0, prefix.size());
}

}  // namespace

bool is_content(std::string_view beginning, const Shard& shard) {
    if (is_zip(beginning)) return begins_with_object(shard) || is_checkpoint(zip::read_directory(shard));
    return is_pickle(beginning) || is_tar(beginning, shard);
}

Header read_header(const Shard& shard, const HeaderOptions& options) {
    Checkpoint checkpoint = read_or_refuse(shard, options.key);
    const bool is_shown = checkpoint.problems.empty() || (options.partial && !checkpoint.tensors.empty());
    if (!is_shown) throw with_calls(std::move(checkpoint.problems), shard);
    Header header;
    add_notes(header, checkpoint.left_out, checkpoint.more_left_out);
    header.calls = names_of(std::move(checkpoint.code));
    header.problems = std::move(checkpoint.problems);
    add_tensors(header, checkpoint, options.prefix);
    return header;
}

Metadata read_metadata(const Shard&, Keep /*wanted*/) { return {}; }

Checkpoint read_checkpoint(const Shard& shard, std::string_view key) {
    const std::string beginning = beginning_of(shard);
    if (is_zip(beginning)) return read_archive(shard, zip::read_directory(shard), key);
    if (is_legacy(beginning)) return read_legacy(shard, key);
    const auto fail = [&](std::string_view text) {
        throw Error({Kind::NotAModel, shard.path(), {}, std::string(text)});
    };
    if (is_tar(beginning, shard)) {
        fail("a tar archive, which PyTorch of before 2017 saved: load and save it again with PyTorch");
    }
    if (is_pickle(beginning)) fail("a pickle, but not one that PyTorch saved");
    fail("no checkpoint: neither a zip archive nor a stream of pickles");
    return {};
}

}  // namespace tensorfs::pytorch
