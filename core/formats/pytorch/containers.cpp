#include "core/formats/pytorch/containers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/escape.hpp"
#include "core/formats/pytorch/storages.hpp"
#include "core/formats/pytorch/tables.hpp"

namespace tensorfs::pytorch {
namespace {

using pickle::Handle;
using pickle::Pickle;
using pickle::Type;

/// The attributes of torch.nn.Module that state_dict() follows.
constexpr std::array<std::string_view, 3> module_parts{"_parameters", "_buffers", "_modules"};

DictClass dict_class_of(const Pickle& pickle, Handle call) {
    const Handle callee = class_of(pickle, pickle.callee(call));
    return pickle.type(callee) == Type::global ? dict_class(pickle.global(callee)) : DictClass::none;
}

void add_items(const Pickle& pickle, Handle value, std::vector<Child>& found) {
    const auto items = pickle.items(value);
    for (auto item = items.begin(); item != items.end(); ++item) {
        const Handle key = *item++;
        found.push_back({key, *item});
    }
}

/// The items of the pairs that a list or tuple holds.
void add_pairs(const Pickle& pickle, Handle list, std::vector<Child>& found) {
    for (const Handle pair : pickle.items(list)) {
        const std::vector<Handle> fields = pickle.items(pair).first(3);
        const bool is_pair = pickle.type(pair) == Type::tuple || pickle.type(pair) == Type::list;
        if (is_pair && fields.size() == 2) found.push_back({fields[0], fields[1]});
    }
}

void add_items_of_call(const Pickle& pickle, Handle call, DictClass kind, std::vector<Child>& found) {
    const std::vector<Handle> arguments = pickle.items(pickle.arguments(call)).first(2);
    const std::size_t position = kind == DictClass::defaultdict ? 1 : 0;
    if (arguments.size() > position) {
        const Handle initial = arguments[position];
        const Type type = pickle.type(initial);
        if (type == Type::dict) add_items(pickle, initial, found);
        if (type == Type::list || type == Type::tuple) add_pairs(pickle, initial, found);
    }
    add_items(pickle, call, found);
}

void add_dict(const Pickle& pickle, Handle value, std::vector<Child>& found) {
    if (pickle.type(value) == Type::dict) return add_items(pickle, value, found);
    if (pickle.type(value) != Type::call) return;
    const DictClass kind = dict_class_of(pickle, value);
    if (kind != DictClass::none) add_items_of_call(pickle, value, kind, found);
}

void add_module(const Pickle& pickle, Handle call, std::vector<Child>& found) {
    const Handle state = pickle.state(call);
    if (pickle.type(state) != Type::dict) return;
    std::array<Handle, module_parts.size()> parts;
    const auto items = pickle.items(state);
    for (auto item = items.begin(); item != items.end(); ++item) {
        const std::optional<std::string_view> key = pickle.string(*item++);
        const auto* const part = std::find(module_parts.begin(), module_parts.end(), key);
        if (part != module_parts.end()) parts[static_cast<std::size_t>(part - module_parts.begin())] = *item;
    }
    for (const Handle part : parts) add_dict(pickle, part, found);
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

/// The bytes that _codecs.encode(text, 'latin1') makes, which is how protocol 2 writes bytes.
bool decode_latin1(std::string_view text, std::string& out) {
    while (!text.empty()) {
        const auto first = static_cast<unsigned char>(text[0]);
        if (first < 0x80) {
            out += text[0];
        } else if ((first == 0xC2 || first == 0xC3) && utf8_length(text) == 2) {
            out += static_cast<char>(first << 6 | (static_cast<unsigned char>(text[1]) & 0x3F));
            text.remove_prefix(1);
        } else {
            return false;
        }
        text.remove_prefix(1);
    }
    return true;
}

/// Bytes as a call of _codecs.encode, or of bytes itself where there are none.
std::optional<std::string_view> called_bytes(const Pickle& pickle, Handle call, std::string& scratch) {
    if (pickle.type(pickle.callee(call)) != Type::global) return std::nullopt;
    const auto [module, name] = pickle.global(pickle.callee(call));
    const std::vector<Handle> arguments = pickle.items(pickle.arguments(call)).first(2);
    scratch.clear();
    if (name == "bytes" && (module == "__builtin__" || module == "builtins") && arguments.empty()) return scratch;
    if (module != "_codecs" || name != "encode" || arguments.size() != 2) return std::nullopt;
    const std::optional<std::string_view> text = pickle.string(arguments[0]);
    if (!text || pickle.string(arguments[1]) != "latin1" || !decode_latin1(*text, scratch)) return std::nullopt;
    return scratch;
}

}  // namespace

std::vector<Child> children(const Pickle& pickle, Handle value) {
    std::vector<Child> found;
    switch (pickle.type(value)) {
        case Type::list:
        case Type::tuple: {
            std::uint32_t position = 0;
            for (const Handle item : pickle.items(value)) {
                found.push_back({Pickle::small_integer(position++), item});
            }
            break;
        }
        case Type::dict: add_items(pickle, value, found); break;
        case Type::call:
            if (dict_class_of(pickle, value) != DictClass::none) {
                add_dict(pickle, value, found);
            } else {
                add_module(pickle, value, found);
            }
            break;
        default: break;
    }
    return found;
}

bool is_container(const Pickle& pickle, Handle value) {
    const Type type = pickle.type(value);
    return type == Type::list || type == Type::tuple || type == Type::dict || type == Type::call;
}

std::optional<std::string_view> key_text(const Pickle& pickle, Handle key, std::string& scratch) {
    std::optional<std::string_view> text = pickle.string(key);
    switch (pickle.type(key)) {
        case Type::integer: scratch = std::to_string(*pickle.integer(key)); return scratch;
        case Type::boolean: return pickle.is_true(key) ? "1" : "0";
        case Type::call: text = called_bytes(pickle, key, scratch); break;
        default: break;
    }
    return text && is_utf8(*text) ? text : std::nullopt;
}

void append_part(std::string& name, std::size_t depth, std::string_view part) {
    if (depth > 0) name += '.';
    name += part;
}

}  // namespace tensorfs::pytorch
