#include "core/views/zip_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "core/base/little_endian.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t alignment = 64;

// Values that say "look in the ZIP64 record".
constexpr std::uint64_t max16 = 0xFFFF;
constexpr std::uint64_t max32 = 0xFFFFFFFF;

constexpr std::uint16_t version_stored = 20;  // "version needed to extract": 2.0, and 4.5 for ZIP64
constexpr std::uint16_t version_zip64 = 45;
constexpr std::uint16_t names_are_utf8 = 1 << 11;
constexpr std::uint16_t first_date = 1 << 5 | 1;  // 1 January 1980: the same model makes the same bytes

template <typename Integer>
void put(std::string& out, Integer value) {
    append_little_endian(out, value, sizeof value);
}
void put16(std::string& out, std::uint64_t value) { put(out, static_cast<std::uint16_t>(std::min(value, max16))); }
void put32(std::string& out, std::uint64_t value) { put(out, static_cast<std::uint32_t>(std::min(value, max32))); }

/// What local and central headers have in common, from the version needed to the sizes.
void put_common(std::string& out, bool is_zip64, std::uint16_t flags, std::uint64_t nbytes, std::uint32_t checksum) {
    put16(out, is_zip64 ? version_zip64 : version_stored);
    put16(out, flags);
    put16(out, 0);  // method: stored
    put16(out, 0);  // time
    put16(out, first_date);
    put32(out, checksum);
    put32(out, nbytes);  // compressed
    put32(out, nbytes);
}

}  // namespace

std::uint32_t zip_checksum(std::string_view bytes) {
    return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t joined_checksum(std::uint32_t first, std::uint32_t second, std::uint64_t second_nbytes) {
    return static_cast<std::uint32_t>(::crc32_combine(first, second, static_cast<z_off_t>(second_nbytes)));
}

void ZipWriter::add(std::string_view name, std::string bytes) {
    add_local_header(name, bytes.size(), zip_checksum(bytes));
    file_.content.add(std::move(bytes));
}

void ZipWriter::add(std::string_view name, std::string head, const FileTensor& tensor,
                    std::optional<std::uint32_t> checksum) {
    const std::uint64_t nbytes = tensor.nbytes();
    if (nbytes == 0) checksum = 0;  // as that of nothing is
    add_local_header(name, head.size() + nbytes, checksum ? joined_checksum(zip_checksum(head), *checksum, nbytes) : 0);
    file_.content.add(std::move(head));
    file_.add(tensor);
}

void ZipWriter::add_local_header(std::string_view name, std::uint64_t nbytes, std::uint32_t checksum) {
    const std::uint64_t begin = file_.content.size();
    const bool is_large = nbytes >= max32;
    const bool is_ascii = std::all_of(name.begin(), name.end(), [](char c) { return (c & 0x80) == 0; });
    const std::uint16_t flags = is_ascii ? 0 : names_are_utf8;

    std::string extra;
    if (is_large) {
        put16(extra, 1);  // ZIP64
        put16(extra, 16);
        put(extra, nbytes);
        put(extra, nbytes);
    }
    constexpr std::uint64_t fixed = 30;
    const std::uint64_t before_padding = begin + fixed + name.size() + extra.size() + 4;
    const std::uint64_t padding = (alignment - before_padding % alignment) % alignment;
    extra += "FB";  // as PyTorch marks its padding
    put16(extra, padding);
    extra.append(padding, 'Z');

    std::string header = "PK\3\4";
    put_common(header, is_large, flags, nbytes, checksum);
    put16(header, name.size());
    put16(header, extra.size());
    header += name;
    header += extra;
    file_.content.add(std::move(header));

    std::string zip64;
    if (is_large || begin >= max32) {
        put16(zip64, 1);
        put16(zip64, (is_large ? 16U : 0U) + (begin >= max32 ? 8U : 0U));
        if (is_large) put(zip64, nbytes);
        if (is_large) put(zip64, nbytes);
        if (begin >= max32) put(zip64, begin);
    }
    directory_ += "PK\1\2";
    put16(directory_, version_zip64);  // made by
    put_common(directory_, !zip64.empty(), flags, nbytes, checksum);
    put16(directory_, name.size());
    put16(directory_, zip64.size());
    put16(directory_, 0);  // comment
    put16(directory_, 0);  // disk
    put16(directory_, 0);  // internal attributes
    put32(directory_, 0);  // external attributes
    put32(directory_, begin);
    directory_ += name;
    directory_ += zip64;
    ++files_;
}

ModelFile ZipWriter::finish() {
    const std::uint64_t begin = file_.content.size();
    const std::uint64_t size = directory_.size();
    std::string& out = directory_;
    if (files_ >= max16 || begin >= max32 || size >= max32) {
        const std::uint64_t record = begin + size;
        out += "PK\6\6";
        put(out, std::uint64_t{44});  // of the record, from here on
        put16(out, version_zip64);
        put16(out, version_zip64);
        put32(out, 0);  // this disk, and the directory's
        put32(out, 0);
        put(out, files_);
        put(out, files_);
        put(out, size);
        put(out, begin);
        out += "PK\6\7";
        put32(out, 0);
        put(out, record);
        put32(out, 1);  // disks
    }
    out += "PK\5\6";
    put16(out, 0);
    put16(out, 0);
    put16(out, files_);
    put16(out, files_);
    put32(out, size);
    put32(out, begin);
    put16(out, 0);  // comment
    file_.content.add(std::move(directory_));
    return std::move(file_);
}

std::string_view member_name_problem(std::string_view name) {
    constexpr std::string_view last_control = "\x1F";
    if (name.size() > max16) return "is longer than an archive can say";
    if (name.starts_with('/')) return "begins with a slash";
    if (name.size() >= 2 && name[1] == ':') return "begins as a drive's name";
    for (const char c : name) {
        if (c == '\\') return "holds a backslash, which separates folders for some programs";
        if ((c >= 0 && c <= last_control.front()) || c == '\x7F') return "holds a control character";
    }
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('/', begin), name.size());
        const std::string_view segment = name.substr(begin, end - begin);
        if (segment == "..") return "leads out of its folder";
        if (segment.empty() || segment == ".") return "has a segment that is empty or \".\"";
        begin = end + 1;
    }
    return {};
}

}  // namespace tensorfs
