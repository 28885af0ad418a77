#include "core/formats/seems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/escape.hpp"

namespace tensorfs {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view pointer =
    "this is a git-lfs pointer: the file itself was not downloaded (`git lfs pull` does)";
constexpr std::string_view page = "this seems to be a web page: the download was answered with an error or a login";
constexpr std::string_view old_ggml = "this seems to be a file of ggml's before GGUF, which does not describe itself";

/// Bytes that stand at a place in a file of that kind.
struct Signature {
    std::size_t at;
    std::string_view bytes;
    std::string_view meaning;
};

// Sources: the formats' own specifications, and file(1)'s collection of magic numbers. An archive's comes before
// what it may hold; of two that begin alike, the longer stands first.
constexpr std::array signatures{
    Signature{0, "version https://git-lfs", pointer},
    Signature{0, "version https://hawser", pointer},
    Signature{0, "GGUF", "this seems to be a GGUF file"},
    Signature{0, "FUGG", "this seems to be a big-endian GGUF file"},
    Signature{0, "lmgg", old_ggml},
    Signature{0, "fmgg", old_ggml},
    Signature{0, "tjgg", old_ggml},
    Signature{0, "algg", old_ggml},
    Signature{0, "\x93NUMPY", "this seems to be a NumPy array"},
    Signature{0, "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19", "this seems to be a PyTorch checkpoint"},
    Signature{0, "PYTORCH1", "this seems to be an archive of a preview of PyTorch 1"},
    Signature{0, "PK\x05\x06", "this seems to be an empty zip archive"},
    Signature{0, "PK\x03\x04", "this seems to be a zip archive, perhaps a PyTorch checkpoint"},
    Signature{0, "\x1F\x8B", "this seems to be a gzip file: it must be unpacked first"},
    Signature{0, "\x28\xB5\x2F\xFD", "this seems to be a zstd file: it must be unpacked first"},
    Signature{0, "BZh", "this seems to be a bzip2 file: it must be unpacked first"},
    Signature{0, "\xFD\x37zXZ\x00"sv, "this seems to be an xz file: it must be unpacked first"},
    Signature{0, "7z\xBC\xAF\x27\x1C", "this seems to be a 7z archive: it must be unpacked first"},
    Signature{0, "Rar!\x1A\x07", "this seems to be a RAR archive: it must be unpacked first"},
    Signature{257, "ustar", "this seems to be a tar archive: it must be unpacked first"},
    Signature{0, "\x89HDF\r\n\x1A\n", "this seems to be an HDF5 file, perhaps of Keras"},
    Signature{4, "TFL3", "this seems to be a TensorFlow Lite model"},
};

bool starts_with_word(std::string_view text, std::string_view word) {
    return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
               return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + ('a' - 'A')) : b);
           });
}

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// A ModelProto of protocol buffers: the version of the format, which is small, and who made it, a text.
bool is_onnx(std::string_view beginning) {
    if (beginning.size() < 5 || byte_at(beginning, 0) != 0x08 || byte_at(beginning, 1) > 0x20) return false;
    if (byte_at(beginning, 2) != 0x12 || byte_at(beginning, 3) == 0) return false;
    const std::string_view producer = beginning.substr(4, byte_at(beginning, 3));
    return std::all_of(producer.begin(), producer.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Any pickle of protocol 2 or later.
bool is_pickle(std::string_view beginning) {
    return beginning.size() >= 3 && byte_at(beginning, 0) == 0x80 && byte_at(beginning, 1) >= 2 &&
           byte_at(beginning, 1) <= 5;
}

/// Whether a file is text from beginning to end, as what a server says instead of a file.
bool is_text(std::string_view whole) {
    for (std::string_view rest = whole; !rest.empty();) {
        const std::size_t length = utf8_length(rest);
        const unsigned first = byte_at(rest, 0);
        if (length == 0 || (first < 0x20 && first != '\n' && first != '\r' && first != '\t')) return false;
        rest.remove_prefix(length);
    }
    return true;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(space);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

}  // namespace

std::string seems_to_be(const Shard& shard) {
    constexpr std::uint64_t most = 1024;
    std::string storage(std::min(shard.size(), most), '\0');
    shard.read(0, storage);
    const std::string_view beginning = storage;
    if (beginning.empty()) return {};

    for (const Signature& signature : signatures) {
        if (beginning.size() > signature.at && beginning.substr(signature.at).starts_with(signature.bytes))
            return std::string(signature.meaning);
    }
    if (is_pickle(beginning)) return "this seems to be a Python pickle";
    if (is_onnx(beginning)) return "this seems to be an ONNX model";

    const std::string_view text = trimmed(beginning);
    if (starts_with_word(text, "<!doctype") || starts_with_word(text, "<html")) return std::string(page);
    if (starts_with_word(text, "<?xml")) return "this seems to be XML: the download was perhaps answered with an error";
    if (text.starts_with('{') || text.starts_with('[')) {
        return shard.size() <= most && is_text(text)
                   ? fmt::format("this seems to be JSON, perhaps a server's error: {}", in_quotes(text))
                   : "this seems to be JSON";
    }
    if (shard.size() <= most && text.size() >= 4 && is_text(text))
        return fmt::format("this is the text {}, perhaps a server's error", in_quotes(text));
    if (beginning.size() == most && beginning.find_first_not_of('\0') == std::string_view::npos)
        return "it begins with nothing but zeros: a download that was begun and not finished";
    return {};
}

}  // namespace tensorfs
