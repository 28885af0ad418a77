#include "core/formats/pickle/pickle.hpp"

namespace tensorfs::pickle {

std::optional<std::int64_t> Pickle::integer(Handle value) const {
    if (is_small(value)) {
        // Sign-extends 31 bits.
        return static_cast<std::int32_t>(value.bits() << 1) >> 1;
    }
    const Node& node = at(value);
    if (node.type != Type::integer) return std::nullopt;
    return static_cast<std::int64_t>(std::uint64_t{node.c} << 32 | node.b);
}

std::optional<std::string_view> Pickle::string(Handle value) const {
    const Type kind = type(value);
    if (kind != Type::text && kind != Type::bytes) return std::nullopt;
    return part(at(value).a, at(value).b);
}

Pickle::Items Pickle::items(Handle value) const {
    switch (type(value)) {
        case Type::tuple: return Items({&pool_, at(value).b, at(value).c, 0});
        case Type::list:
        case Type::dict:
        case Type::set: return Items({&pool_, 0, 0, at(value).a});
        case Type::call:
            if (const std::uint32_t record = at(value).c; record != 0) return Items({&pool_, 0, 0, pool_[record]});
            break;
        default: break;
    }
    return Items({});
}

Pickle::Global Pickle::global(Handle value) const {
    const Node& node = at(value);
    if (node.c != 0) return {*string(Handle(node.a)), *string(Handle(node.b))};
    const std::size_t name = std::size_t{node.a} + node.b + 1;
    return {part(node.a, node.b), bytes_.substr(name, bytes_.find('\n', name) - name)};
}

Handle Pickle::state(Handle value) const {
    const std::uint32_t record = at(value).c;
    return record == 0 ? Handle() : Handle(pool_[record + 2]);
}

std::vector<Handle> Pickle::Items::first(std::size_t most) const {
    std::vector<Handle> found;
    for (auto at = begin(); at != end() && found.size() < most; ++at) found.push_back(*at);
    return found;
}

}  // namespace tensorfs::pickle
