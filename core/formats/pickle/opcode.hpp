#pragma once

// The opcodes of Python's pickles, as pickletools describes them. Those of the text protocols 0 and 1 (a bool
// as "I01", a string in quotes) are refused where a checkpoint is read: PyTorch cannot load what it wrote with
// protocol 0, and nobody writes 1. Where it only matters what unpickling would call, they are followed.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tensorfs::pickle {

enum class Opcode : unsigned char {
    mark = '(',
    stop = '.',
    pop = '0',
    pop_mark = '1',
    dup = '2',
    binbytes = 'B',
    short_binbytes = 'C',
    binfloat = 'G',
    binint = 'J',
    binint1 = 'K',
    binint2 = 'M',
    none = 'N',
    binpersid = 'Q',
    reduce = 'R',
    binstring = 'T',
    short_binstring = 'U',
    binunicode = 'X',
    empty_list = ']',
    append = 'a',
    build = 'b',
    global = 'c',
    dict = 'd',
    empty_dict = '}',
    appends = 'e',
    binget = 'h',
    long_binget = 'j',
    list = 'l',
    binput = 'q',
    long_binput = 'r',
    setitem = 's',
    tuple = 't',
    empty_tuple = ')',
    setitems = 'u',
    proto = 0x80,
    newobj = 0x81,
    tuple1 = 0x85,
    tuple2 = 0x86,
    tuple3 = 0x87,
    newtrue = 0x88,
    newfalse = 0x89,
    long1 = 0x8A,
    long4 = 0x8B,
    short_binunicode = 0x8C,
    binunicode8 = 0x8D,
    binbytes8 = 0x8E,
    empty_set = 0x8F,
    additems = 0x90,
    frozenset = 0x91,
    newobj_ex = 0x92,
    stack_global = 0x93,
    memoize = 0x94,
    frame = 0x95,
    bytearray8 = 0x96,

    // Of the text protocols.
    text_integer = 'I',
    text_long = 'L',
    text_float = 'F',
    text_string = 'S',
    text_unicode = 'V',
    text_persid = 'P',
    text_get = 'g',
    text_put = 'p',
    instance = 'i',
    object = 'o',
};

/// Which opcodes are read.
enum class Protocols : std::uint8_t { binary, all };

/// One opcode of a pickle and what follows it.
struct Instruction {
    Opcode opcode;
    std::uint64_t begin;        // where the opcode stands
    std::string_view argument;  // without the length before it; a line without its end; of a global, both lines
    std::uint64_t end;          // where the next instruction begins
};

/// The instruction at byte `at`. Throws SyntaxError where there is none that can be read.
Instruction instruction_at(std::string_view pickle, std::uint64_t at, Protocols protocols = Protocols::binary);

/// What is known of a pickle's end from its first bytes.
struct End {
    bool is_found;
    std::uint64_t at;  // found: behind STOP; else: how many bytes must be there to go on
};

/// Looks for the end of a pickle of which `bytes` is the beginning. `from` is where to begin, the start
/// of an instruction, and is moved to the last one that was reached, so that no byte is walked twice
/// when more of them have come. Throws SyntaxError for an opcode that cannot be read.
End find_end(std::string_view bytes, std::uint64_t& from, Protocols protocols = Protocols::binary);

}  // namespace tensorfs::pickle
