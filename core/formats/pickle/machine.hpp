#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/formats/pickle/opcode.hpp"
#include "core/formats/pickle/pickle.hpp"

namespace tensorfs::pickle {

/// The virtual machine that pickles are programs for, with a stack, marks on it, and a memo. For
/// read_pickle() and survey_pickle() alone. Where Python would fail for reasons of the stack or the memo, so does
/// this; where it would fail in an object's own methods, this goes on.
class Machine {
public:
    Machine(std::string_view bytes, Protocols protocols);
    /// Runs to STOP. Throws SyntaxError.
    Pickle run() &&;
    /// Runs as far as it goes.
    Pickle survey() &&;

private:
    using Node = Pickle::Node;

    void run_to_stop();
    /// Does what the instruction at_ says; STOP is none of its own.
    void step();
    /// The same for those of the text protocols. Values that are no texts do not matter there.
    void step_in_text();
    [[noreturn]] void fail(std::string_view why) const;

    Handle add(Node node);
    Handle add_integer(std::int64_t value);
    /// The instruction's argument as one value.
    Handle add_number(Type type, std::uint64_t bits);
    Handle add_string(Type type);
    Handle add_long();
    Handle add_global();

    void push(Handle value);
    Handle pop();
    Handle& top();
    /// Where the topmost mark stands; takes the mark away.
    std::size_t pop_mark();

    /// Makes what stands on the stack from `first` on one value.
    void make_tuple(std::size_t first);
    void make_container(Type type, std::size_t first);
    void make_call(Handle callee, Handle arguments);
    void make_global_from_stack();

    /// Makes a call of what stands at `first` on the stack, and what stands behind that.
    void make_object(std::size_t first);

    /// Puts what stands on the stack from `first` on into the container below, which is to be of `type`.
    void fill(Type type, std::size_t first);
    /// Appends it to the segments that begin and end there, and takes it off.
    void append(std::uint32_t& first_segment, std::uint32_t& last_segment, std::size_t first);
    void build();
    /// The record of a call in the pool, made if it has none.
    std::uint32_t record_of(Handle call);

    void put(std::uint64_t index);
    void get(std::uint64_t index);

    Pickle pickle_;
    Protocols protocols_;
    Instruction at_{};
    std::uint64_t instructions_ = 0;
    std::vector<Handle> stack_;
    std::vector<std::uint32_t> marks_;  // positions in stack_, from the bottom
    std::vector<Handle> memo_;
};

}  // namespace tensorfs::pickle
