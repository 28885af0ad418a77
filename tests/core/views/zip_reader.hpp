#pragma once

#include <boost/crc.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/contents.hpp"

namespace tensorfs::tests {

/// A zip archive of stored files, read by its directory as a program would, and strictly: where the
/// local headers, the directory or the records at the end do not tell the same, it throws
/// std::runtime_error. Files may be larger than memory: their bytes are read when they are asked for.
class ZipReader {
public:
    struct File {
        std::string name;
        std::uint64_t header;  // where its local header begins
        std::uint64_t begin;   // where its bytes begin
        std::uint64_t nbytes;
        std::uint32_t checksum;
        bool is_zip64;  // its entry in the directory has a ZIP64 field
    };

    ZipReader(const Content& content, const std::vector<Shard>& shards) : content_(content), shards_(shards) {
        const std::string end = read(content.size() - 22, 22);
        expect(end.starts_with("PK\5\6"), "it ends in an end record without a comment");
        expect(number(end, 4, 4) == 0 && number(end, 20, 2) == 0, "one disk, no comment");
        std::uint64_t count = number(end, 8, 2);
        std::uint64_t size = number(end, 12, 4);
        std::uint64_t begin = number(end, 16, 4);
        expect(number(end, 10, 2) == count, "both counts of the end record are the same");
        std::uint64_t records = content.size() - 22;
        if (count == 0xFFFF || size == 0xFFFFFFFF || begin == 0xFFFFFFFF) {
            is_zip64_ = true;
            records -= 20 + 56;
            const std::string zip64 = read(records, 56 + 20);
            expect(zip64.starts_with("PK\6\6") && number(zip64, 4, 8) == 44, "a ZIP64 end record");
            expect(number(zip64, 14, 2) == 45 && number(zip64, 16, 8) == 0, "version 4.5, one disk");
            const std::uint64_t large_count = number(zip64, 24, 8);
            expect(number(zip64, 32, 8) == large_count, "both counts of the ZIP64 end record are the same");
            const auto clamped = [](std::uint64_t value, std::uint64_t most) { return value < most ? value : most; };
            expect(clamped(large_count, 0xFFFF) == count, "the count where it fits");
            expect(clamped(number(zip64, 40, 8), 0xFFFFFFFF) == size, "the directory's size where it fits");
            expect(clamped(number(zip64, 48, 8), 0xFFFFFFFF) == begin, "the directory's place where it fits");
            count = large_count;
            size = number(zip64, 40, 8);
            begin = number(zip64, 48, 8);
            expect(zip64.substr(56, 4) == "PK\6\7" && number(zip64, 60, 4) == 0, "a locator of disk 0");
            expect(number(zip64, 64, 8) == records && number(zip64, 72, 4) == 1, "the locator's place, one disk");
        }
        expect(begin + size == records, "the directory ends where the end records begin");
        read_directory(read(begin, size), count);
        expect((files_.empty() ? 0 : files_.back().begin + files_.back().nbytes) == begin,
               "the directory begins where the last file ends");
    }

    [[nodiscard]] const std::vector<File>& files() const { return files_; }
    /// Whether it has ZIP64's end records.
    [[nodiscard]] bool is_zip64() const { return is_zip64_; }
    [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t nbytes) const {
        return bytes_of(content_, shards_, offset, nbytes);
    }
    [[nodiscard]] std::string bytes(const File& file) const { return read(file.begin, file.nbytes); }
    [[nodiscard]] const File& file(const std::string& name) const {
        for (const File& file : files_) {
            if (file.name == name) return file;
        }
        throw std::runtime_error("no file " + name);
    }

    static std::uint32_t crc(const std::string& bytes) {
        boost::crc_32_type crc;
        crc.process_bytes(bytes.data(), bytes.size());
        return crc.checksum();
    }

private:
    static void expect(bool holds, const char* what) {
        if (!holds) throw std::runtime_error(std::string("not so: ") + what);
    }
    static std::uint64_t number(const std::string& bytes, std::size_t at, std::size_t size) {
        return number_of(std::string_view(bytes).substr(at, size));
    }

    void read_directory(const std::string& directory, std::uint64_t count) {
        std::size_t at = 0;
        std::uint64_t end = 0;  // of the file before
        for (; count > 0; --count) {
            const std::string fixed = directory.substr(at, 46);
            expect(fixed.size() == 46 && fixed.starts_with("PK\1\2"), "an entry of the directory");
            const std::size_t name_size = number(fixed, 28, 2);
            const std::size_t extra_size = number(fixed, 30, 2);
            File file{directory.substr(at + 46, name_size),
                      number(fixed, 42, 4),
                      0,
                      number(fixed, 24, 4),
                      static_cast<std::uint32_t>(number(fixed, 16, 4)),
                      extra_size != 0};
            expect(number(fixed, 8, 4) == 0, "no flags, stored");
            expect(number(fixed, 20, 4) == file.nbytes, "both sizes are the same");
            expect(number(fixed, 32, 8) == 0 && number(fixed, 40, 2) == 0, "no comment, disk and attributes");
            expect(number(fixed, 6, 2) == (file.is_zip64 ? 45 : 20), "the version that is needed");
            read_zip64(directory.substr(at + 46 + name_size, extra_size), file);
            expect(file.header == end, "a file begins where the one before it ends");
            read_local(fixed, file);
            end = file.begin + file.nbytes;
            files_.push_back(std::move(file));
            at += 46 + name_size + extra_size;
        }
        expect(at == directory.size(), "the directory is its entries");
    }

    /// Of the three values, those that do not fit: size, compressed size, place, in this order.
    static void read_zip64(const std::string& extra, File& file) {
        if (extra.empty()) return;
        std::size_t at = 4;
        const auto take = [&] {
            at += 8;
            return number(extra, at - 8, 8);
        };
        expect(number(extra, 0, 2) == 1 && number(extra, 2, 2) + 4 == extra.size(), "a ZIP64 field and no other");
        if (file.nbytes == 0xFFFFFFFF) {
            file.nbytes = take();
            expect(take() == file.nbytes, "both large sizes are the same");
        }
        if (file.header == 0xFFFFFFFF) file.header = take();
        expect(at == extra.size(), "the ZIP64 field has what does not fit, and no more");
    }

    void read_local(const std::string& central, File& file) const {
        const std::string local = read(file.header, 30);
        expect(local.starts_with("PK\3\4"), "a local header");
        expect(local.substr(6, 20) == central.substr(8, 20), "the local header is as the directory's entry");
        const std::size_t name_size = number(local, 26, 2);
        const std::size_t extra_size = number(local, 28, 2);
        expect(read(file.header + 30, name_size) == file.name, "the local header's name");
        std::string extra = read(file.header + 30 + name_size, extra_size);
        const bool is_large = file.nbytes >= 0xFFFFFFFF;
        expect(number(local, 4, 2) == (is_large ? 45 : 20), "the version that is needed");
        if (is_large) {
            expect(number(extra, 0, 2) == 1 && number(extra, 2, 2) == 16, "a ZIP64 field in the local header");
            expect(number(extra, 4, 8) == file.nbytes && number(extra, 12, 8) == file.nbytes, "its sizes");
            extra.erase(0, 20);
        }
        expect(extra.substr(0, 2) == "FB" && number(extra, 2, 2) + 4 == extra.size(), "padding as PyTorch has it");
        expect(extra.find_first_not_of('Z', 4) == std::string::npos, "padding of Zs");
        file.begin = file.header + 30 + name_size + extra_size;
        expect(file.begin % 64 == 0, "a file begins at a multiple of 64");
    }

    const Content& content_;
    const std::vector<Shard>& shards_;
    std::vector<File> files_;
    bool is_zip64_ = false;
};

}  // namespace tensorfs::tests
