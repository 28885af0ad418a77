#include "core/formats/safetensors/entries.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/json.hpp"

namespace tensorfs::safetensors {
namespace {

class HeaderReader {
public:
    HeaderReader(Header& header, const HeaderOptions& options) : header_(header), options_(options) {}

    std::vector<HeaderEntry> read(const json::Text& text) {
        json::parse_object(text, [&](std::string_view key, json::Value value) {
            if (key == "__metadata__") {
                read_metadata(value);
                return;
            }
            HeaderEntry entry;
            add_name(header_, entry, options_.prefix, key);
            try {
                read_tensor(value, entry);
            } catch (const json::SyntaxError& e) {
                // From storage, since `key` may go with the parse.
                throw json::SyntaxError("tensor " + in_quotes(name_of(header_, entry)) + ": " + e.what());
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
                const std::string_view text = item.string(scratch_);
                all.emplace_back(std::move(key_copy),
                                 options_.keep != Keep::short_values || text.size() <= longest_kept_text
                                     ? MetadataValue(std::string(text))
                                     : MetadataValue(NotKept{}));
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

    void read_tensor(json::Value value, HeaderEntry& entry) {
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
                read_dtype(field, entry);
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

    void read_tensor_array(json::Value value, HeaderEntry& entry) {
        int position = 0;
        value.elements([&](json::Value element) {
            switch (position++) {
                case 0: read_dtype(element, entry); break;
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

    void read_dtype(json::Value value, HeaderEntry& entry) {
        if (value.type() != json::Type::object) {
            take_dtype(value.string(scratch_), entry);
            return;
        }
        bool has_name = false;
        value.fields([&](std::string_view name, json::Value unit) {
            if (has_name) throw json::SyntaxError("\"dtype\" has two names");
            has_name = true;
            take_dtype(name, entry);
            if (!unit.is_null()) throw json::SyntaxError("\"dtype\" is not a string");
        });
        if (!has_name) throw json::SyntaxError("\"dtype\" is not a string");
    }

    /// Of a part, a tensor of an unknown dtype is left out: its offsets tell where the others' bytes are not.
    void take_dtype(std::string_view name, HeaderEntry& entry) {
        const std::optional<Dtype> dtype = parse_dtype(name);
        if (dtype && !is_quantised(*dtype)) {
            entry.dtype = *dtype;
            return;
        }
        std::string text = "dtype " + in_quotes(name) + " is not one of the format's";
        if (!options_.partial) throw json::SyntaxError(text);
        entry.is_left_out = true;
        header_.problems.push_back(
            {Kind::InvalidHeaderDeserialization, {}, std::string(name_of(header_, entry)), std::move(text)});
    }

    void read_shape(json::Value value, HeaderEntry& entry) {
        entry.dims_at = header_.dims.size();
        value.elements([&](json::Value element) { header_.dims.push_back(integer(element, "shape")); });
        entry.rank = header_.dims.size() - entry.dims_at;
    }

    static void read_offsets(json::Value value, HeaderEntry& entry) {
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
    const HeaderOptions& options_;
    std::vector<HeaderEntry> entries_;
    std::string scratch_;
    bool has_metadata_ = false;
};

}  // namespace

std::vector<HeaderEntry> read_entries(const json::Text& text, const HeaderOptions& options, Header& header) {
    return HeaderReader(header, options).read(text);
}

}  // namespace tensorfs::safetensors
