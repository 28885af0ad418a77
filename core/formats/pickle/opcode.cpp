#include "core/formats/pickle/opcode.hpp"

#include <fmt/format.h>

#include <array>

#include "core/base/little_endian.hpp"
#include "core/formats/pickle/syntax_error.hpp"

namespace tensorfs::pickle {
namespace {

/// What follows an opcode.
enum class Form : std::uint8_t {
    unknown,
    nothing,
    fixed,        // `size` bytes
    counted,      // a length of `size` bytes, and so many bytes
    line,         // a text that ends in a line feed
    two_lines,    // two of them
    registry,     // an extension's number, whose meaning is in the registry of the Python that wrote it
    out_of_band,  // refers to a buffer that is not in the pickle
};

struct Layout {
    Form form = Form::unknown;
    std::uint8_t size = 0;
    bool is_of_text_protocol = false;
};

constexpr std::array<Layout, 256> layouts = [] {
    std::array<Layout, 256> table{};
    const auto set = [&](std::string_view opcodes, Layout layout) {
        for (const char c : opcodes) table[static_cast<unsigned char>(c)] = layout;
    };
    set("(.012NQR]abd}elst)u", {Form::nothing, 0});
    set("\x81\x85\x86\x87\x88\x89\x8F\x90\x91\x92\x93\x94", {Form::nothing, 0});
    set("Khq\x80", {Form::fixed, 1});
    set("M", {Form::fixed, 2});
    set("Jjr", {Form::fixed, 4});
    set("G\x95", {Form::fixed, 8});
    set("CU\x8A\x8C", {Form::counted, 1});
    set("BTX\x8B", {Form::counted, 4});
    set("\x8D\x8E\x96", {Form::counted, 8});
    set("c", {Form::two_lines, 0});
    set("IFLSVPgp", {Form::line, 0, true});
    set("i", {Form::two_lines, 0, true});
    set("o", {Form::nothing, 0, true});
    set("\x82\x83\x84", {Form::registry, 0});
    set("\x97\x98", {Form::out_of_band, 0});
    return table;
}();

/// What an instruction would be if all of its bytes were there, or how many must be.
struct Measured {
    std::string_view argument;
    std::uint64_t end = 0;
    bool is_whole = false;
};

Measured measure_fixed(std::string_view bytes, std::uint64_t begin, std::uint64_t size) {
    const std::uint64_t end = begin + size;
    if (size > bytes.size() - begin) return {{}, end, false};
    return {bytes.substr(begin, size), end, true};
}

Measured measure_lines(std::string_view bytes, std::uint64_t begin, int lines) {
    std::size_t end = begin;
    for (int line = 0; line < lines; ++line) {
        end = bytes.find('\n', end);
        if (end == std::string_view::npos) return {{}, bytes.size() + 1, false};
        ++end;
    }
    return {bytes.substr(begin, end - begin - (lines == 1 ? 1 : 0)), end, true};
}

/// REQUIRES: at < bytes.size().
Measured measure(std::string_view bytes, std::uint64_t at, Protocols protocols) {
    const auto opcode = static_cast<unsigned char>(bytes[at]);
    const Layout layout = layouts[opcode];
    if (layout.is_of_text_protocol && protocols == Protocols::binary)
        throw SyntaxError("an opcode of the text protocols 0 and 1, which are not read", at, opcode);
    switch (layout.form) {
        case Form::nothing: return {{}, at + 1, true};
        case Form::fixed: return measure_fixed(bytes, at + 1, layout.size);
        case Form::counted: {
            const Measured length = measure_fixed(bytes, at + 1, layout.size);
            if (!length.is_whole) return length;
            const std::uint64_t size = little_endian_at(length.argument, 0, layout.size);
            // A length beyond 2^63 is no size of anything; of four bytes, the opcodes of Python 2 and
            // LONG4 have a sign.
            const bool is_signed = opcode == 'T' || opcode == 0x8B;
            if (size >> (is_signed ? 31 : 63) != 0) throw SyntaxError("a negative or absurd length", at, opcode);
            return measure_fixed(bytes, length.end, size);
        }
        case Form::line: return measure_lines(bytes, at + 1, 1);
        case Form::two_lines: return measure_lines(bytes, at + 1, 2);
        case Form::registry: throw SyntaxError("it refers to a registry of the program that wrote it", at, opcode);
        case Form::out_of_band: throw SyntaxError("it refers to a buffer that is not in the pickle", at, opcode);
        case Form::unknown: break;
    }
    throw SyntaxError("no such opcode", at, opcode);
}

}  // namespace

SyntaxError::SyntaxError(std::string_view why, std::uint64_t at)
    : text_(fmt::format("{} (byte {} of the pickle)", why, at)), at_(at) {}

SyntaxError::SyntaxError(std::string_view why, std::uint64_t at, unsigned char opcode)
    : text_(fmt::format("{} (opcode 0x{:02X} at byte {} of the pickle)", why, opcode, at)), at_(at) {}

Instruction instruction_at(std::string_view pickle, std::uint64_t at, Protocols protocols) {
    if (at >= pickle.size()) throw SyntaxError("it ends without STOP", at);
    const Measured measured = measure(pickle, at, protocols);
    if (!measured.is_whole) {
        throw SyntaxError("it ends in the middle of an opcode", at, static_cast<unsigned char>(pickle[at]));
    }
    return {static_cast<Opcode>(pickle[at]), at, measured.argument, measured.end};
}

End find_end(std::string_view bytes, std::uint64_t& from, Protocols protocols) {
    while (from < bytes.size()) {
        const Measured measured = measure(bytes, from, protocols);
        if (!measured.is_whole) return {false, measured.end};
        if (static_cast<Opcode>(bytes[from]) == Opcode::stop) return {true, measured.end};
        from = measured.end;
    }
    return {false, from + 1};
}

}  // namespace tensorfs::pickle
