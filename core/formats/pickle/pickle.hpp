#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

// What a pickle would make, as data. Unpickling is running a program: this is what its instructions
// say, with every object that they would look up left as two texts, and every call left as a node.
// Nothing is looked up, imported or called.

namespace tensorfs::pickle {

enum class Type : std::uint8_t {
    none,
    boolean,
    integer,        // that fits 64 bits
    large_integer,  // that does not
    real,
    text,
    bytes,  // and strings of Python 2
    tuple,
    list,
    dict,
    set,
    global,         // an object by its module and name
    call,           // what a call of something makes
    persistent_id,  // an object that whoever saved the pickle keeps outside
};

/// One value of a pickle, to be asked for with that. Equal handles are the same object; equal objects
/// may have several handles.
class Handle {
public:
    constexpr Handle() = default;
    constexpr explicit Handle(std::uint32_t bits) : bits_(bits) {}
    [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
    friend constexpr bool operator==(Handle, Handle) = default;

private:
    std::uint32_t bits_ = 0;  // None
};

/// The values of one pickle, as a graph: a container may be met many times and may hold itself. Views
/// into the pickle's bytes, which must outlive it.
class Pickle {
public:
    class Items;

    /// What it is a pickle of.
    [[nodiscard]] Handle root() const { return root_; }
    /// How many bytes it takes: where STOP ends; of survey_pickle(), 0 where that was not reached.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// Nodes are the values that are kept in memory: node(0) … node(nodes() - 1), in the order in which
    /// they were met. Small integers have none.
    [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
    [[nodiscard]] static constexpr Handle node(std::uint32_t position) { return Handle(position); }
    /// An integer that needs no node. REQUIRES: it is of 0 to 2^30-1.
    [[nodiscard]] static constexpr Handle small_integer(std::uint32_t value) { return Handle(value | small_bit); }
    /// The node's position; nothing for a small integer.
    [[nodiscard]] static constexpr std::optional<std::uint32_t> position(Handle value) {
        return is_small(value) ? std::nullopt : std::optional(value.bits());
    }

    [[nodiscard]] Type type(Handle value) const { return is_small(value) ? Type::integer : at(value).type; }
    [[nodiscard]] bool is_none(Handle value) const { return type(value) == Type::none; }
    [[nodiscard]] bool is_true(Handle value) const { return type(value) == Type::boolean && at(value).a != 0; }
    /// An integer of up to 64 bits (no boolean); nothing if it is something else.
    [[nodiscard]] std::optional<std::int64_t> integer(Handle value) const;
    /// An integer that is too large for that: two's complement, the lowest byte first. REQUIRES: it is one.
    [[nodiscard]] std::string_view large_integer(Handle value) const { return part(at(value).a, at(value).b); }
    /// A text or bytes, as they stand; nothing if it is something else. A text need not be UTF-8.
    [[nodiscard]] std::optional<std::string_view> string(Handle value) const;

    /// The elements of a tuple, list or set, and the keys and values of a dict by turns, as for a call what
    /// was set in the object that it made. Nothing for the rest.
    [[nodiscard]] Items items(Handle value) const;

    struct Global {
        std::string_view module, name;
    };
    /// REQUIRES: it is a global.
    [[nodiscard]] Global global(Handle value) const;
    /// Whether unpickling would call it. REQUIRES: it is a global.
    [[nodiscard]] bool is_called(Handle value) const { return at(value).is_called; }

    /// What is called. REQUIRES: it is a call, as for the next two.
    [[nodiscard]] Handle callee(Handle value) const { return Handle(at(value).a); }
    /// What it is called with; a tuple if the pickle is sound.
    [[nodiscard]] Handle arguments(Handle value) const { return Handle(at(value).b); }
    /// What BUILD gave to what it made, last; None if nothing.
    [[nodiscard]] Handle state(Handle value) const;
    /// REQUIRES: it is a persistent id.
    [[nodiscard]] Handle persistent_id(Handle value) const { return Handle(at(value).a); }

private:
    friend class Machine;

    static constexpr std::uint32_t small_bit = 0x8000'0000;
    static constexpr bool is_small(Handle value) { return (value.bits() & small_bit) != 0; }

    /// What a, b and c are depends on the type:
    ///   boolean: a is 0 or 1                    integer, real: b, c are its 64 bits
    ///   text, bytes, large_integer: a, b are offset and size in the pickle
    ///   tuple: b, c are first and count in pool_
    ///   list, dict, set: a, b are the first and last segment in pool_ (see append()), 0 if empty
    ///   global: a, b are offset and size of the module, its name follows up to the line feed; or, where
    ///           c is not 0, a, b are the handles of two texts
    ///   call: a, b are callee and arguments; c is its record in pool_ (first, last, state), 0 if none
    ///   persistent_id: a is its handle
    struct Node {
        Type type = Type::none;
        bool is_called = false;
        std::uint32_t a = 0, b = 0, c = 0;
    };
    static_assert(sizeof(Node) == 16);

    explicit Pickle(std::string_view bytes) : bytes_(bytes) {}
    [[nodiscard]] const Node& at(Handle value) const { return nodes_[value.bits()]; }
    [[nodiscard]] std::string_view part(std::uint32_t offset, std::uint32_t size) const {
        return bytes_.substr(offset, size);
    }

    std::string_view bytes_;
    // Deques, since a vector that grows holds everything twice.
    std::deque<Node> nodes_;
    std::deque<std::uint32_t> pool_;
    Handle root_;
    std::uint64_t size_ = 0;
};

/// Elements of a value, in order.
class Pickle::Items {
public:
    class Iterator {
    public:
        using value_type = Handle;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::forward_iterator_tag;
        using pointer = const Handle*;
        using reference = Handle;

        Iterator() = default;
        Iterator(const std::deque<std::uint32_t>* pool, std::uint32_t at, std::uint32_t left, std::uint32_t next)
            : pool_(pool), at_(at), left_(left), next_(next) {
            skip_ends();
        }
        Handle operator*() const { return Handle((*pool_)[at_]); }
        Iterator& operator++() {
            ++at_;
            --left_;
            skip_ends();
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) {
            return a.left_ == b.left_ && (a.left_ == 0 || a.at_ == b.at_);
        }

    private:
        void skip_ends() {
            while (left_ == 0 && next_ != 0) {
                left_ = (*pool_)[next_];
                at_ = next_ + 2;
                next_ = (*pool_)[next_ + 1];
            }
        }

        const std::deque<std::uint32_t>* pool_ = nullptr;
        std::uint32_t at_ = 0, left_ = 0;  // of this segment
        std::uint32_t next_ = 0;           // segment; 0 if this is the last
    };

    explicit Items(Iterator begin) : begin_(begin) {}
    [[nodiscard]] Iterator begin() const { return begin_; }
    [[nodiscard]] static Iterator end() { return {}; }
    [[nodiscard]] bool empty() const { return begin_ == end(); }
    /// The first `most` of them, and no more: enough to see how a tuple is made.
    [[nodiscard]] std::vector<Handle> first(std::size_t most) const;

private:
    Iterator begin_;
};

/// The largest pickle that is read. Larger ones hold data, not only what is to be known of it.
inline constexpr std::uint64_t max_pickle_size = std::uint64_t{128} << 20;

/// Reads the pickle that `bytes` begin with; what follows its end does not matter. Protocols 2 to 5.
/// Throws SyntaxError. Neither time nor memory is more than a multiple of the bytes, memory never more than
/// 256 MiB, and no recursion is as deep as the pickle has it. The result views `bytes`.
Pickle read_pickle(std::string_view bytes);

/// What a pickle would have made up to the first instruction that cannot be read or followed, of any protocol:
/// for globals_of() alone, where read_pickle() refuses. As bounded as that. Throws nothing but std::bad_alloc.
Pickle survey_pickle(std::string_view bytes);

}  // namespace tensorfs::pickle
