#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/large_pages.hpp"
#include "core/base/text.hpp"
#include "core/formats/formats.hpp"

namespace tensorfs {

/// A sharded model's index: which shard holds which tensor.
///
///   {"metadata": {"total_size": 123, ...}, "weight_map": {"TENSOR": "SHARD", ...}}
///
/// Rules: the text is UTF-8 and one JSON object; `weight_map` is an object of strings and stands
/// once; a tensor may stand in it twice only with the same shard. All shards are files of one format. `metadata` may
/// be absent or anything; its total_size is advice, not a rule. Other fields are passed over.
class Index {
public:
    struct Entry {
        const char* name_at;  // in the index's text, where it stands there as it is
        std::uint32_t name_size;
        std::uint32_t shard;  // position in shards()
    };

    /// Reads the index at `path`. Throws Error: InvalidIndex (a rule above), InvalidShardPath,
    /// DuplicateName, MissingShard (no such index), NotRegularFile or SystemError; all that is
    /// wrong in one. `formats` are those of which it may be: see index_formats().
    static Index read(const std::string& path, std::span<const Format> formats = tensorfs::formats());
    /// The same for an index's text; `path` is for messages.
    static Index parse(std::string_view text, const std::string& path,
                       std::span<const Format> formats = tensorfs::formats());

    /// The format of the shards; null if there are none.
    [[nodiscard]] const Format* format() const { return format_; }

    /// The weight map in byte order of the tensors' names.
    [[nodiscard]] const LargeVector<Entry>& entries() const { return entries_; }
    [[nodiscard]] std::string_view name(const Entry& entry) const { return {entry.name_at, entry.name_size}; }
    /// The shards' paths relative to the index's folder, in byte order.
    [[nodiscard]] const std::vector<std::string>& shards() const { return shards_; }
    /// metadata.total_size in bytes, if it is there and a whole number.
    [[nodiscard]] std::optional<std::uint64_t> total_size() const { return total_size_; }

private:
    friend class IndexReader;

    /// What the entries' names are views of; copies of an index share it.
    struct Names {
        json::Text text;
        std::deque<std::string> escaped{};  // those that do not stand in the text as they are
    };

    LargeVector<Entry> entries_;
    std::shared_ptr<Names> names_;
    std::vector<std::string> shards_;
    std::optional<std::uint64_t> total_size_;
    const Format* format_ = nullptr;
};

/// The formats of which the index of that name may be: one if its name tells, else all of `formats`.
std::span<const Format> index_formats(std::string_view name, std::span<const Format> formats);

/// Whether an index may name a shard so: relative, in the index's folder or below it. What is wrong with it, or "" if
/// nothing is.
std::string_view shard_path_problem(std::string_view path);

}  // namespace tensorfs
