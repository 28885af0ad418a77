#include "core/formats/numpy/array_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/little_endian.hpp"
#include "core/formats/numpy/array_type.hpp"
#include "core/formats/numpy/literal.hpp"

namespace tensorfs::numpy {
namespace {

constexpr std::uint64_t largest_text = 65535;  // NumPy itself reads 10,000 characters

struct Prefix {
    std::uint64_t nbytes;  // what stands before the text
    std::uint64_t text;    // bytes of the text
};

/// The version and length, by rule 1. Throws LiteralError.
Prefix parse_prefix(std::string_view beginning) {
    if (!beginning.starts_with(magic)) throw LiteralError("it does not begin as an array does");
    if (beginning.size() < 10) throw LiteralError("it was cut short");
    const auto major = static_cast<unsigned char>(beginning[6]);
    const auto minor = static_cast<unsigned char>(beginning[7]);
    if (major < 1 || major > 3 || minor != 0) {
        throw LiteralError(fmt::format("it has version {}.{}, not 1.0 to 3.0", major, minor));
    }
    if (major == 1) return {10, little_endian_at(beginning, 8, 2)};
    if (beginning.size() < 12) throw LiteralError("it was cut short");
    return {12, little_endian_at(beginning, 8, 4)};
}

class HeaderParser {
public:
    HeaderParser(std::string_view beginning, std::uint64_t size, const std::string& path, std::string_view name)
        : beginning_(beginning), size_(size), path_(path), name_(name) {}

    ArrayHeader parse() {
        ArrayHeader header;
        HeaderDict dict;
        try {
            dict = parse_text(header);
        } catch (const LiteralError& e) {
            fail(Kind::InvalidArrayHeader, fmt::format("the array's header: {}", e.what()));
        }
        header.fortran_order = dict.fortran_order;
        header.shape = std::move(dict.shape);
        if (!dict.descr) {
            header.obstacle = "structured";
            return header;
        }
        std::optional<ArrayType> type = parse_array_type(*dict.descr);
        if (!type) {
            fail(Kind::InvalidArrayHeader,
                 fmt::format("the array's header: {} is no type of NumPy's", in_quotes(*dict.descr)));
        }
        header.dtype = type->dtype;
        if (!type->dtype) header.obstacle = fmt::format("{} ({})", type->obstacle, *dict.descr);
        check_size(header, type->nbytes);
        return header;
    }

private:
    [[noreturn]] void fail(Kind kind, std::string text) const {
        throw Error({kind, path_, std::string(name_), std::move(text)});
    }

    HeaderDict parse_text(ArrayHeader& header) const {
        const Prefix prefix = parse_prefix(beginning_);
        if (prefix.text > largest_text) {
            throw LiteralError(fmt::format("it would have {} bytes, more than {}", prefix.text, largest_text));
        }
        header.data = prefix.nbytes + prefix.text;
        if (header.data > size_) {
            throw LiteralError(fmt::format("it would end at byte {} of {}: it was cut short", header.data, size_));
        }
        return parse_header_dict(beginning_.substr(prefix.nbytes, prefix.text));
    }

    void check_size(ArrayHeader& header, std::uint64_t itemsize) const {
        std::uint64_t elements = 1;
        for (const std::uint64_t dim : header.shape) {
            if (__builtin_mul_overflow(elements, dim, &elements)) {
                fail(Kind::ValidationOverflow, "the product of its shape does not fit 64 bits");
            }
        }
        if (__builtin_mul_overflow(elements, itemsize, &header.nbytes)) {
            fail(Kind::ValidationOverflow, "its size in bytes does not fit 64 bits");
        }
        if (header.nbytes > size_ - header.data) {
            fail(Kind::MetadataIncompleteBuffer,
                 fmt::format("its shape and type need {} bytes, but only {} follow its header: it was cut short or is "
                             "still being downloaded",
                             header.nbytes, size_ - header.data));
        }
    }

    std::string_view beginning_;
    std::uint64_t size_;
    const std::string& path_;
    std::string_view name_;
};

}  // namespace

bool ArrayHeader::is_row_major() const {
    if (!fortran_order || nbytes == 0) return true;
    return std::count_if(shape.begin(), shape.end(), [](std::uint64_t dim) { return dim != 1; }) <= 1;
}

std::uint64_t array_header_size(std::string_view beginning) {
    try {
        const Prefix prefix = parse_prefix(beginning);
        return prefix.text > largest_text ? 0 : prefix.nbytes + prefix.text;
    } catch (const LiteralError&) {
        return 0;
    }
}

ArrayHeader parse_array_header(std::string_view beginning, std::uint64_t size, const std::string& path,
                               std::string_view name) {
    return HeaderParser(beginning, size, path, name).parse();
}

}  // namespace tensorfs::numpy
