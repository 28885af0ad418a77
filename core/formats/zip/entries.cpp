#include "core/formats/zip/entries.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/little_endian.hpp"

namespace tensorfs::zip {
namespace {

constexpr std::size_t fixed_size = 46;
constexpr std::uint64_t in_zip64 = 0xFFFFFFFF;

/// The data of the first extra field of ZIP64; nothing where there is none, or more than one, of which
/// readers would choose differently.
std::optional<std::string_view> zip64_field(std::string_view extra) {
    constexpr std::uint64_t id = 0x0001;
    std::optional<std::string_view> found;
    while (extra.size() >= 4) {
        const std::uint64_t size = little_endian_at(extra, 2, 2);
        if (size > extra.size() - 4) break;
        if (little_endian_at(extra, 0, 2) == id) {
            if (found) return std::nullopt;
            found = extra.substr(4, size);
        }
        extra.remove_prefix(4 + size);
    }
    return found;
}

class EntryParser {
public:
    EntryParser(std::string_view directory, const std::string& path) : rest_(directory), path_(path) {}

    std::vector<Entry> parse(std::uint64_t count) {
        std::vector<Entry> entries;
        entries.reserve(count);
        while (entries.size() < count) entries.push_back(next());
        if (!rest_.empty()) {
            fail(fmt::format("the zip archive's directory has {} bytes behind its {} entries", rest_.size(), count));
        }
        return entries;
    }

private:
    [[noreturn]] void fail(std::string text) const { throw Error({Kind::InvalidArchive, path_, {}, std::move(text)}); }

    std::string_view take(std::size_t size) {
        if (size > rest_.size()) fail("the zip archive's directory ends inside an entry");
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    Entry next() {
        const std::string_view fixed = take(fixed_size);
        if (!fixed.starts_with("PK\1\2")) fail("the zip archive's directory holds what is no entry");
        const auto number = [&](std::size_t at, std::size_t size) { return little_endian_at(fixed, at, size); };
        Entry entry{take(number(28, 2)),
                    number(42, 4),
                    number(20, 4),
                    number(24, 4),
                    static_cast<std::uint16_t>(number(8, 2)),
                    static_cast<std::uint16_t>(number(10, 2))};
        const std::string_view extra = take(number(30, 2));
        take(number(32, 2));  // a comment
        check_name(entry.name);
        std::uint64_t disk = number(34, 2);
        read_zip64(entry, disk, extra);
        if (disk != 0) fail(fmt::format("the zip archive's member {} is on another disk", in_quotes(entry.name)));
        return entry;
    }

    void check_name(std::string_view name) const {
        if (!is_utf8(name))
            fail(fmt::format("the zip archive's member {} has a name that is not UTF-8", in_quotes(name)));
        if (name.find('\0') != std::string_view::npos) {
            fail(fmt::format("the zip archive's member {} has a name with a NUL, which others take for its end",
                             in_quotes(name)));
        }
    }

    /// Of the values, those that say so are in the field, in this order.
    void read_zip64(Entry& entry, std::uint64_t& disk, std::string_view extra) const {
        const bool is_needed = entry.uncompressed == in_zip64 || entry.compressed == in_zip64 ||
                               entry.header == in_zip64 || disk == 0xFFFF;
        if (!is_needed) return;
        std::string_view field = zip64_field(extra).value_or("");
        const auto replace = [&](std::uint64_t& value, std::size_t size) {
            if (field.size() < size) {
                fail(fmt::format("the zip archive's member {} has no ZIP64 field, or one too short",
                                 in_quotes(entry.name)));
            }
            value = little_endian_at(field, 0, size);
            field.remove_prefix(size);
        };
        if (entry.uncompressed == in_zip64) replace(entry.uncompressed, 8);
        if (entry.compressed == in_zip64) replace(entry.compressed, 8);
        if (entry.header == in_zip64) replace(entry.header, 8);
        if (disk == 0xFFFF) replace(disk, 4);
    }

    std::string_view rest_;
    const std::string& path_;
};

}  // namespace

std::vector<Entry> parse_entries(std::string_view directory, std::uint64_t count, const std::string& path) {
    return EntryParser(directory, path).parse(count);
}

}  // namespace tensorfs::zip
