#include "core/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/error.hpp"
#include "core/escape.hpp"
#include "core/json.hpp"

namespace tensorfs {
namespace {

/// A tensor as the header states it, before rules 6 to 9. Offsets count from the header's end.
struct Entry {
    std::size_t name_at = 0, name_size = 0;  // in Header::names
    std::size_t dims_at = 0, rank = 0;       // in Header::dims
    std::uint64_t begin = 0, end = 0;
    Dtype dtype{};
};

/// Rule 5: the header's JSON to entries, in the order of the file.
class HeaderReader {
public:
    HeaderReader(Header& header, std::string_view prefix) : header_(header), prefix_(prefix) {}

    std::vector<Entry> read(const json::Text& text) {
        json::parse_object(text, [&](std::string_view key, json::Value value) {
            if (key == "__metadata__") {
                read_metadata(value);
                return;
            }
            // Only in an error's message; taken from storage, since `key` may go with the parse.
            header_.names.insert(header_.names.end(), prefix_.begin(), prefix_.end());
            Entry entry{header_.names.size(), key.size()};
            header_.names.insert(header_.names.end(), key.begin(), key.end());
            try {
                read_tensor(value, entry);
            } catch (const json::SyntaxError& e) {
                throw json::SyntaxError("tensor " + in_quotes({header_.names.data() + entry.name_at, entry.name_size}) +
                                        ": " + e.what());
            }
            entries_.push_back(entry);
        });
        return std::move(entries_);
    }

private:
    void read_metadata(json::Value value) {
        if (has_metadata_) throw json::SyntaxError("\"__metadata__\" stands twice");
        has_metadata_ = true;
        if (value.is_null()) return;
        Metadata all;
        value.fields([&](std::string_view key, json::Value item) {
            std::string key_copy(key);
            try {
                all.emplace_back(std::move(key_copy), item.string(scratch_));
            } catch (const json::SyntaxError& e) {
                throw json::SyntaxError("\"__metadata__\": key " + in_quotes(key) + ": " + e.what());
            }
        });
        keep_last_of_each_key(all);
        header_.metadata = std::move(all);
    }

    static void keep_last_of_each_key(Metadata& all) {
        std::vector<std::size_t> order(all.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return std::tie(all[a].first, a) < std::tie(all[b].first, b); });
        std::vector<bool> dropped(all.size());
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            dropped[order[i]] = all[order[i]].first == all[order[i + 1]].first;
        }
        std::size_t kept = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (dropped[i]) continue;
            if (kept != i) all[kept] = std::move(all[i]);
            ++kept;
        }
        all.resize(kept);
    }

    void read_tensor(json::Value value, Entry& entry) {
        if (value.type() == json::Type::array) {
            read_tensor_array(value, entry);
            return;
        }
        bool dtype = false;
        bool shape = false;
        bool offsets = false;
        value.fields([&](std::string_view key, json::Value field) {
            if (key == "dtype") {
                once(dtype, "dtype");
                entry.dtype = read_dtype(field);
            } else if (key == "shape") {
                once(shape, "shape");
                read_shape(field, entry);
            } else if (key == "data_offsets") {
                once(offsets, "data_offsets");
                read_offsets(field, entry);
            } else {
                field.validate();
            }
        });
        if (!dtype) throw json::SyntaxError("\"dtype\" is missing");
        if (!shape) throw json::SyntaxError("\"shape\" is missing");
        if (!offsets) throw json::SyntaxError("\"data_offsets\" is missing");
    }

    void read_tensor_array(json::Value value, Entry& entry) {
        int position = 0;
        value.elements([&](json::Value element) {
            switch (position++) {
                case 0: entry.dtype = read_dtype(element); break;
                case 1: read_shape(element, entry); break;
                case 2: read_offsets(element, entry); break;
                default: throw json::SyntaxError("an array for a tensor has three elements");
            }
        });
        if (position != 3) throw json::SyntaxError("an array for a tensor has three elements");
    }

    static void once(bool& seen, std::string_view key) {
        if (seen) throw json::SyntaxError(in_quotes(key) + " stands twice");
        seen = true;
    }

    Dtype read_dtype(json::Value value) {
        if (value.type() != json::Type::object) return named_dtype(value.string(scratch_));
        std::optional<Dtype> dtype;
        value.fields([&](std::string_view name, json::Value unit) {
            if (dtype) throw json::SyntaxError("\"dtype\" has two names");
            dtype = named_dtype(name);
            if (!unit.is_null()) throw json::SyntaxError("\"dtype\" is not a string");
        });
        if (!dtype) throw json::SyntaxError("\"dtype\" is not a string");
        return *dtype;
    }

    static Dtype named_dtype(std::string_view name) {
        const std::optional<Dtype> dtype = parse_dtype(name);
        if (!dtype) throw json::SyntaxError("dtype " + in_quotes(name) + " is not one of the format's");
        return *dtype;
    }

    void read_shape(json::Value value, Entry& entry) {
        entry.dims_at = header_.dims.size();
        value.elements([&](json::Value element) { header_.dims.push_back(integer(element, "shape")); });
        entry.rank = header_.dims.size() - entry.dims_at;
    }

    static void read_offsets(json::Value value, Entry& entry) {
        std::array<std::uint64_t, 2> offsets{};
        std::size_t count = 0;
        value.elements([&](json::Value element) {
            if (count == offsets.size()) throw json::SyntaxError("\"data_offsets\" has more than two elements");
            offsets[count++] = integer(element, "data_offsets");
        });
        if (count != offsets.size()) throw json::SyntaxError("\"data_offsets\" has fewer than two elements");
        std::tie(entry.begin, entry.end) = std::tie(offsets[0], offsets[1]);
    }

    static std::uint64_t integer(json::Value value, std::string_view key) {
        if (value.type() == json::Type::number) {
            if (const std::optional<std::uint64_t> number = value.unsigned_integer()) return *number;
        }
        throw json::SyntaxError(in_quotes(key) + " holds something other than an integer of 0 to 2^64-1");
    }

    Header& header_;
    std::string_view prefix_;
    std::vector<Entry> entries_;
    std::string scratch_;
    bool has_metadata_ = false;
};

/// Rules 6 to 9 over the entries of one header.
class HeaderChecker {
public:
    HeaderChecker(Header& header, std::vector<Entry> entries, std::uint64_t data_begin, std::uint64_t file_size,
                  const std::string& path, std::size_t prefix)
        : header_(header),
          entries_(std::move(entries)),
          data_begin_(data_begin),
          file_size_(file_size),
          path_(path),
          prefix_(prefix) {}

    void check() {
        sort_entries();
        const std::optional<Entry> duplicate = drop_all_but_last_of_each_name();
        std::uint64_t end = 0;
        for (const Entry& entry : entries_) {
            check_tensor(entry, end);
            end = entry.end;
        }
        check_end(end);
        if (duplicate) fail(Kind::DuplicateName, &*duplicate, "the name stands twice in the header");
        make_tensors();
    }

private:
    [[nodiscard]] std::string_view name(const Entry& entry) const {
        return {header_.names.data() + entry.name_at, entry.name_size};
    }

    [[noreturn]] void fail(Kind kind, const Entry* entry, std::string text) const {
        throw Error({kind, path_, entry != nullptr ? std::string(name(*entry)) : std::string(), std::move(text)});
    }

    /// In data order, and by_name for that. An entry's place in the file is told by where its name is.
    void sort_entries() {
        const auto in_data_order = [&](const Entry& a, const Entry& b) {
            return std::tuple(a.begin, a.end, name(a)) < std::tuple(b.begin, b.end, name(b));
        };
        if (!std::is_sorted(entries_.begin(), entries_.end(), in_data_order)) {  // most writers keep it
            std::sort(entries_.begin(), entries_.end(), in_data_order);
        }
        header_.by_name.resize(entries_.size());
        std::iota(header_.by_name.begin(), header_.by_name.end(), 0U);
        std::sort(header_.by_name.begin(), header_.by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple(name(entries_[a]), entries_[a].name_at) <
                   std::tuple(name(entries_[b]), entries_[b].name_at);
        });
    }

    /// As the reference does, so that rules 6 to 8 give its verdict; answers one that was dropped.
    std::optional<Entry> drop_all_but_last_of_each_name() {
        std::optional<Entry> dropped;
        std::vector<bool> is_dropped(entries_.size());
        for (std::size_t i = 1; i < header_.by_name.size(); ++i) {
            const std::uint32_t before = header_.by_name[i - 1];
            if (name(entries_[before]) != name(entries_[header_.by_name[i]])) continue;
            is_dropped[before] = true;
            dropped = entries_[before];
        }
        if (!dropped) return dropped;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!is_dropped[i]) entries_[kept++] = entries_[i];
        }
        entries_.resize(kept);
        return dropped;
    }

    void check_tensor(const Entry& entry, std::uint64_t previous_end) const {
        if (entry.begin != previous_end) {
            fail(Kind::InvalidOffset, &entry,
                 fmt::format("it begins at byte {} of the data, but the tensor before it ends at {}", entry.begin,
                             previous_end));
        }
        if (entry.end < entry.begin) {
            fail(Kind::InvalidOffset, &entry,
                 fmt::format("it ends at byte {}, before it begins at {}", entry.end, entry.begin));
        }
        std::uint64_t size = 1;
        for (const std::uint64_t dim : Shape(header_.dims.data() + entry.dims_at, entry.rank)) {
            if (__builtin_mul_overflow(size, dim, &size)) {
                fail(Kind::ValidationOverflow, &entry, "the product of its shape does not fit 64 bits");
            }
        }
        if (__builtin_mul_overflow(size, std::uint64_t{bits(entry.dtype)}, &size)) {
            fail(Kind::ValidationOverflow, &entry, "its size in bits does not fit 64 bits");
        }
        if (size % 8 != 0) {
            fail(Kind::MisalignedSlice, &entry,
                 fmt::format("its {} bits of {} do not fill whole bytes", size, to_string(entry.dtype)));
        }
        if (entry.end - entry.begin != size / 8) {
            fail(Kind::TensorInvalidInfo, &entry,
                 fmt::format("its shape and dtype need {} bytes, but its data_offsets give {}", size / 8,
                             entry.end - entry.begin));
        }
    }

    void check_end(std::uint64_t data_size) const {
        const std::uint64_t present = file_size_ - data_begin_;
        if (data_size == present) return;
        fail(Kind::MetadataIncompleteBuffer, nullptr,
             present < data_size
                 ? fmt::format("the header describes {} bytes of data, but only {} follow it: the file was cut short "
                               "or is still being downloaded",
                               data_size, present)
                 : fmt::format("the header describes {} bytes of data, but {} follow it", data_size, present));
    }

    /// Lets tensors of the same shape share it: a model has many tensors and few shapes.
    void join_shapes() {
        constexpr std::size_t most_compared = 16;
        std::vector<std::uint64_t> joined;
        std::vector<std::pair<std::size_t, std::size_t>> shapes;  // where in `joined`, and the rank
        for (Entry& entry : entries_) {
            const auto* const dims = header_.dims.data() + entry.dims_at;
            const auto last = shapes.end() - static_cast<std::ptrdiff_t>(std::min(shapes.size(), most_compared));
            const auto same = std::find_if(last, shapes.end(), [&](const auto& shape) {
                return shape.second == entry.rank && std::equal(dims, dims + entry.rank, joined.data() + shape.first);
            });
            if (same != shapes.end()) {
                entry.dims_at = same->first;
                continue;
            }
            entry.dims_at = joined.size();
            shapes.emplace_back(entry.dims_at, entry.rank);
            joined.insert(joined.end(), dims, dims + entry.rank);
        }
        header_.dims = std::move(joined);
    }

    void make_tensors() {
        join_shapes();
        header_.tensors.reserve(entries_.size());
        for (const Entry& entry : entries_) {
            const std::string_view full_name(header_.names.data() + entry.name_at - prefix_, prefix_ + entry.name_size);
            header_.tensors.emplace_back(full_name, static_cast<std::uint16_t>(prefix_), entry.dtype,
                                         Shape(header_.dims.data() + entry.dims_at, entry.rank),
                                         data_begin_ + entry.begin, entry.end - entry.begin);
        }
    }

    Header& header_;
    std::vector<Entry> entries_;
    std::uint64_t data_begin_;
    std::uint64_t file_size_;
    const std::string& path_;
    std::size_t prefix_;
};

/// What a file that is no safetensors file seems to be, for the message; "" where nothing is known.
std::string_view recognize(std::string_view beginning) {
    struct Signature {
        std::string_view bytes, meaning;
    };
    static constexpr std::array<Signature, 8> signatures{{
        {"version https://git-lfs",
         "this is a git-lfs pointer: the file itself was not downloaded (`git lfs pull` does)"},
        {"version https://hawser",
         "this is a git-lfs pointer: the file itself was not downloaded (`git lfs pull` does)"},
        {"GGUF", "this looks like a GGUF file"},
        {"PK\x03\x04", "this looks like a zip archive, perhaps a PyTorch checkpoint"},
        {"\x89HDF", "this looks like an HDF5 file"},
        {"<!DOCTYPE", "this looks like a web page: the download was answered with an error or a login"},
        {"<html", "this looks like a web page: the download was answered with an error or a login"},
        {"{", "this looks like JSON"},
    }};
    for (const Signature& signature : signatures) {
        if (beginning.starts_with(signature.bytes)) return signature.meaning;
    }
    return {};
}

[[noreturn]] void fail_on_length(const Shard& shard, Kind kind, std::string text) {
    std::string beginning(std::min<std::uint64_t>(shard.size(), 64), '\0');
    shard.read(0, beginning);
    if (const std::string_view meaning = recognize(beginning); !meaning.empty())
        text = fmt::format("{} ({})", meaning, text);
    throw Error({kind, shard.path(), {}, std::move(text)});
}

}  // namespace

Header parse_header(const json::Text& text, std::uint64_t file_size, const std::string& path, std::string_view prefix) {
    const std::string_view bytes = text.view();
    if (!simdjson::validate_utf8(bytes.data(), bytes.size())) {
        throw Error({Kind::InvalidHeader, path, {}, "the header is not UTF-8"});
    }
    Header header;
    std::vector<Entry> entries;
    try {
        entries = HeaderReader(header, prefix).read(text);
    } catch (const json::SyntaxError& e) {
        throw Error({Kind::InvalidHeaderDeserialization, path, {}, std::string("the header: ") + e.what()});
    }
    HeaderChecker(header, std::move(entries), 8 + bytes.size(), file_size, path, prefix.size()).check();
    return header;
}

Header read_header(const Shard& shard, std::string_view prefix) {
    constexpr std::uint64_t length_size = 8;
    if (shard.size() < length_size) {
        fail_on_length(shard, Kind::HeaderTooSmall,
                       shard.size() == 0
                           ? "the file is empty"
                           : fmt::format("the file has {} bytes, fewer than the header length's 8", shard.size()));
    }
    std::array<char, length_size> length_bytes{};
    shard.read(0, length_bytes);
    std::uint64_t length = 0;
    for (std::size_t i = length_size; i-- > 0;) length = length << 8 | static_cast<unsigned char>(length_bytes[i]);
    if (length > max_header_size) {
        fail_on_length(shard, Kind::HeaderTooLarge,
                       fmt::format("the header length is {}, more than {}", length, max_header_size));
    }
    if (length > shard.size() - length_size) {
        fail_on_length(
            shard, Kind::InvalidHeaderLength,
            fmt::format("the header length is {}, but only {} bytes follow it: the file was cut short or is still "
                        "being downloaded",
                        length, shard.size() - length_size));
    }
    json::Text text(length);
    shard.read(length_size, {text.data(), length});
    return parse_header(text, shard.size(), shard.path(), prefix);
}

}  // namespace tensorfs
