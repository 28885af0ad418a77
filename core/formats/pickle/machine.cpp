#include "core/formats/pickle/machine.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/little_endian.hpp"
#include "core/formats/pickle/syntax_error.hpp"

namespace tensorfs::pickle {
namespace {

// What a pickle may make. PyTorch's has for each tensor some 150 bytes, eight nodes of 16 bytes, and twenty
// places of 4 bytes in the pool, so that 700,000 tensors can be read; the worst that can be written takes 96, 48, 32,
// 16 and 32 MiB, while the stack and memo grow half as much again.
constexpr std::size_t max_nodes = std::size_t{6} << 20;
constexpr std::size_t max_pool = std::size_t{12} << 20;
constexpr std::size_t max_stack = std::size_t{8} << 20;
constexpr std::size_t max_marks = std::size_t{4} << 20;
constexpr std::size_t max_memo = std::size_t{8} << 20;
constexpr std::uint64_t max_protocol = 5;

constexpr Handle none(0), no(1), yes(2), empty_tuple(3);
constexpr Handle absent(0x7FFF'FFFF);  // in the memo

std::uint64_t little_endian(std::string_view bytes) { return little_endian_at(bytes, 0, bytes.size()); }

/// The number that up to eight bytes make in two's complement. REQUIRES: bytes is not empty.
std::int64_t signed_little_endian(std::string_view bytes) {
    const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
    return static_cast<std::int64_t>(little_endian(bytes) << unused) >> unused;
}

/// Without the highest bytes that say nothing but the sign.
std::string_view shortest(std::string_view bytes) {
    while (bytes.size() > 1) {
        const bool is_negative = (bytes[bytes.size() - 2] & 0x80) != 0;
        if (bytes.back() != (is_negative ? '\xFF' : '\0')) break;
        bytes.remove_suffix(1);
    }
    return bytes;
}

}  // namespace

Machine::Machine(std::string_view bytes, Protocols protocols) : pickle_(bytes), protocols_(protocols) {
    pickle_.nodes_.resize(4);
    pickle_.nodes_[no.bits()] = {Type::boolean, false, 0, 0, 0};
    pickle_.nodes_[yes.bits()] = {Type::boolean, false, 1, 0, 0};
    pickle_.nodes_[empty_tuple.bits()] = {Type::tuple, false, 0, 0, 0};
    pickle_.pool_.push_back(0);  // so that 0 is no place in it
}

Pickle Machine::run() && {
    if (pickle_.bytes_.size() > max_pickle_size) throw SyntaxError("it is larger than what is read", 0);
    run_to_stop();
    return std::move(pickle_);
}

Pickle Machine::survey() && {
    try {
        run_to_stop();
    } catch (const SyntaxError&) {
        // Up to there is as far as Python may have got, too.
    }
    return std::move(pickle_);
}

void Machine::run_to_stop() {
    for (;;) {
        at_ = instruction_at(pickle_.bytes_, at_.end, protocols_);
        ++instructions_;
        if (at_.opcode == Opcode::stop) break;
        step();
    }
    pickle_.root_ = pop();
    pickle_.size_ = at_.end;
}

void Machine::fail(std::string_view why) const {
    throw SyntaxError(why, at_.begin, static_cast<unsigned char>(at_.opcode));
}

void Machine::step() {
    switch (at_.opcode) {
        case Opcode::proto:
            if (little_endian(at_.argument) > max_protocol) fail("a protocol later than 5");
            break;
        case Opcode::frame:  // says only how much to read at once
            if (little_endian(at_.argument) > pickle_.bytes_.size() - at_.end) fail("a frame that is cut short");
            break;
        case Opcode::stop: break;

        case Opcode::none: push(none); break;
        case Opcode::newtrue: push(yes); break;
        case Opcode::newfalse: push(no); break;
        case Opcode::binint: push(add_integer(signed_little_endian(at_.argument))); break;
        case Opcode::binint1:
        case Opcode::binint2: push(add_integer(static_cast<std::int64_t>(little_endian(at_.argument)))); break;
        case Opcode::long1:
        case Opcode::long4: push(add_long()); break;
        case Opcode::binfloat: {
            std::uint64_t bits = 0;  // the only number here that begins with its highest byte
            for (const char byte : at_.argument) bits = bits << 8 | static_cast<unsigned char>(byte);
            push(add_number(Type::real, bits));
            break;
        }
        case Opcode::binunicode:
        case Opcode::short_binunicode:
        case Opcode::binunicode8: push(add_string(Type::text)); break;
        case Opcode::binstring:
        case Opcode::short_binstring:
        case Opcode::binbytes:
        case Opcode::short_binbytes:
        case Opcode::binbytes8:
        case Opcode::bytearray8: push(add_string(Type::bytes)); break;

        case Opcode::empty_tuple: push(empty_tuple); break;
        case Opcode::tuple: make_tuple(pop_mark()); break;
        case Opcode::tuple1:
        case Opcode::tuple2:
        case Opcode::tuple3: {
            const std::size_t size =
                static_cast<std::size_t>(at_.opcode) - static_cast<std::size_t>(Opcode::tuple1) + 1;
            const std::size_t floor = marks_.empty() ? 0 : marks_.back();
            if (stack_.size() - floor < size) fail("too little on the stack");
            make_tuple(stack_.size() - size);
            break;
        }
        case Opcode::empty_list: push(add({Type::list})); break;
        case Opcode::empty_dict: push(add({Type::dict})); break;
        case Opcode::empty_set: push(add({Type::set})); break;
        case Opcode::list: make_container(Type::list, pop_mark()); break;
        case Opcode::dict: make_container(Type::dict, pop_mark()); break;
        case Opcode::frozenset: make_container(Type::set, pop_mark()); break;
        case Opcode::append:
            top();
            fill(Type::list, stack_.size() - 1);
            break;
        case Opcode::appends: fill(Type::list, pop_mark()); break;
        case Opcode::additems: fill(Type::set, pop_mark()); break;
        case Opcode::setitem:
            if (stack_.size() < 2) fail("too little on the stack");
            fill(Type::dict, stack_.size() - 2);
            break;
        case Opcode::setitems: fill(Type::dict, pop_mark()); break;

        case Opcode::global: push(add_global()); break;
        case Opcode::stack_global: make_global_from_stack(); break;
        case Opcode::newobj_ex: pop(); [[fallthrough]];  // the keywords hold no tensor's place
        case Opcode::reduce:
        case Opcode::newobj: {
            const Handle arguments = pop();
            make_call(pop(), arguments);
            break;
        }
        case Opcode::build: build(); break;
        case Opcode::binpersid: push(add({Type::persistent_id, false, pop().bits()})); break;

        case Opcode::mark:
            if (marks_.size() >= max_marks) fail("more on the stack than is read");
            marks_.push_back(static_cast<std::uint32_t>(stack_.size()));
            break;
        case Opcode::pop:
            if (!marks_.empty() && marks_.back() == stack_.size()) {
                marks_.pop_back();
            } else {
                pop();
            }
            break;
        case Opcode::pop_mark: stack_.resize(pop_mark()); break;
        case Opcode::dup: push(top()); break;
        case Opcode::binput:
        case Opcode::long_binput: put(little_endian(at_.argument)); break;
        case Opcode::memoize: put(memo_.size()); break;
        case Opcode::binget:
        case Opcode::long_binget: get(little_endian(at_.argument)); break;

        case Opcode::text_integer:
        case Opcode::text_long:
        case Opcode::text_float:
        case Opcode::text_string:
        case Opcode::text_unicode:
        case Opcode::text_persid:
        case Opcode::text_get:
        case Opcode::text_put:
        case Opcode::instance:
        case Opcode::object: step_in_text(); break;
    }
}

void Machine::step_in_text() {
    std::uint64_t index = 0;
    std::from_chars(at_.argument.data(), at_.argument.data() + at_.argument.size(), index);
    switch (at_.opcode) {
        case Opcode::text_string:
            if (at_.argument.size() >= 2) at_.argument = at_.argument.substr(1, at_.argument.size() - 2);  // quotes
            push(add_string(Type::text));
            break;
        case Opcode::text_unicode: push(add_string(Type::text)); break;
        case Opcode::text_persid: push(add({Type::persistent_id, false, add_string(Type::text).bits()})); break;
        case Opcode::text_get: get(index); break;
        case Opcode::text_put: put(index); break;
        case Opcode::instance: {
            const std::size_t first = pop_mark();
            push(add_global());
            std::rotate(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end() - 1, stack_.end());
            make_object(first);
            break;
        }
        case Opcode::object: make_object(pop_mark()); break;
        default: push(none); break;
    }
}

Handle Machine::add(Node node) {
    if (pickle_.nodes_.size() >= max_nodes) fail("more values than are read");
    pickle_.nodes_.push_back(node);
    return Handle(static_cast<std::uint32_t>(pickle_.nodes_.size() - 1));
}

Handle Machine::add_integer(std::int64_t value) {
    constexpr std::int64_t limit = std::int64_t{1} << 30;
    if (value >= -limit && value < limit) return Handle(static_cast<std::uint32_t>(value) | Pickle::small_bit);
    return add_number(Type::integer, static_cast<std::uint64_t>(value));
}

Handle Machine::add_number(Type type, std::uint64_t bits) {
    return add({type, false, 0, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
}

Handle Machine::add_string(Type type) {
    const auto offset = static_cast<std::uint32_t>(at_.argument.data() - pickle_.bytes_.data());
    return add({type, false, offset, static_cast<std::uint32_t>(at_.argument.size())});
}

Handle Machine::add_long() {
    if (at_.argument.empty()) return add_integer(0);
    at_.argument = shortest(at_.argument);
    if (at_.argument.size() <= 8) return add_integer(signed_little_endian(at_.argument));
    return add_string(Type::large_integer);
}

Handle Machine::add_global() {
    at_.argument = at_.argument.substr(0, at_.argument.find('\n'));  // the name stands behind that
    return add_string(Type::global);
}

void Machine::push(Handle value) {
    if (stack_.size() >= max_stack) fail("more on the stack than is read");
    stack_.push_back(value);
}

Handle& Machine::top() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) fail("too little on the stack");
    return stack_.back();
}

Handle Machine::pop() {
    const Handle value = top();
    stack_.pop_back();
    return value;
}

std::size_t Machine::pop_mark() {
    if (marks_.empty()) fail("no mark on the stack");
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
}

void Machine::make_tuple(std::size_t first) {
    const auto count = static_cast<std::uint32_t>(stack_.size() - first);
    Handle tuple = empty_tuple;
    if (count != 0) {
        if (pickle_.pool_.size() + count > max_pool) fail("more values in containers than are read");
        tuple = add({Type::tuple, false, 0, static_cast<std::uint32_t>(pickle_.pool_.size()), count});
        for (std::size_t i = first; i < stack_.size(); ++i) pickle_.pool_.push_back(stack_[i].bits());
    }
    stack_.resize(first);
    push(tuple);
}

void Machine::make_container(Type type, std::size_t first) {
    const Handle container = add({type});
    push(container);
    std::rotate(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end() - 1, stack_.end());
    fill(type, first + 1);
}

void Machine::make_call(Handle callee, Handle arguments) {
    if (pickle_.type(callee) == Type::global) pickle_.nodes_[callee.bits()].is_called = true;
    push(add({Type::call, false, callee.bits(), arguments.bits()}));
}

void Machine::make_object(std::size_t first) {
    if (first >= stack_.size()) fail("too little on the stack");
    make_tuple(first + 1);
    const Handle arguments = pop();
    make_call(pop(), arguments);
}

void Machine::make_global_from_stack() {
    const Handle name = pop();
    const Handle module = pop();
    if (!pickle_.string(name) || !pickle_.string(module)) fail("a global whose names are no texts");
    push(add({Type::global, false, module.bits(), name.bits(), 1}));
}

void Machine::fill(Type type, std::size_t first) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (first <= floor) fail("too little on the stack");
    if (type == Type::dict && (stack_.size() - first) % 2 != 0) fail("a key without a value");
    const Handle container = stack_[first - 1];
    const Type actual = pickle_.type(container);
    if (actual == type) {
        Node& node = pickle_.nodes_[container.bits()];
        append(node.a, node.b, first);
    } else if (actual == Type::call && type == Type::dict) {
        const std::uint32_t record = record_of(container);
        append(pickle_.pool_[record], pickle_.pool_[record + 1], first);
    } else if (actual == Type::call || actual == Type::global || actual == Type::persistent_id) {
        stack_.resize(first);  // only its own methods know what becomes of them
    } else {
        fail("items for what can hold none");
    }
}

void Machine::append(std::uint32_t& first_segment, std::uint32_t& last_segment, std::size_t first) {
    // A segment is how many elements it has, the next segment (0 if none), and the elements. The last one
    // grows while nothing else has been put behind it.
    auto& pool = pickle_.pool_;
    const auto count = static_cast<std::uint32_t>(stack_.size() - first);
    if (count == 0) return;
    if (pool.size() + count + 2 > max_pool) fail("more values in containers than are read");
    if (last_segment != 0 && last_segment + 2 + pool[last_segment] == pool.size()) {
        pool[last_segment] += count;
    } else {
        const auto segment = static_cast<std::uint32_t>(pool.size());
        if (last_segment != 0) pool[last_segment + 1] = segment;
        last_segment = segment;
        if (first_segment == 0) first_segment = segment;
        pool.push_back(count);
        pool.push_back(0);
    }
    for (std::size_t i = first; i < stack_.size(); ++i) pool.push_back(stack_[i].bits());
    stack_.resize(first);
}

void Machine::build() {
    const Handle state = pop();
    const Handle object = top();
    // What BUILD sets in another value are attributes of it, and its items are the same as before.
    if (pickle_.type(object) == Type::call) pickle_.pool_[record_of(object) + 2] = state.bits();
}

std::uint32_t Machine::record_of(Handle call) {
    Node& node = pickle_.nodes_[call.bits()];
    if (node.c == 0) {
        if (pickle_.pool_.size() + 3 > max_pool) fail("more values in containers than are read");
        node.c = static_cast<std::uint32_t>(pickle_.pool_.size());
        pickle_.pool_.insert(pickle_.pool_.end(), 3, 0);  // no segments, and the state None
    }
    return node.c;
}

void Machine::put(std::uint64_t index) {
    const Handle value = top();
    // A pickler counts what it puts, so an index beyond the instructions read is none of its making; to
    // believe it would be to allocate what one instruction says. Python does.
    if (index >= instructions_ && protocols_ == Protocols::all) return;
    if (index >= instructions_) fail("a memo index larger than the number of instructions before it");
    if (index >= max_memo) fail("more in the memo than is read");
    if (index >= memo_.size()) memo_.resize(index + 1, absent);
    memo_[index] = value;
}

void Machine::get(std::uint64_t index) {
    const bool is_known = index < memo_.size() && memo_[index] != absent;
    if (!is_known && protocols_ == Protocols::binary) fail("a memo index at which nothing was put");
    push(is_known ? memo_[index] : none);
}

Pickle read_pickle(std::string_view bytes) { return Machine(bytes, Protocols::binary).run(); }

Pickle survey_pickle(std::string_view bytes) {
    return Machine(bytes.substr(0, max_pickle_size), Protocols::all).survey();
}

}  // namespace tensorfs::pickle
