#include "core/formats/pytorch/storages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/escape.hpp"
#include "core/formats/pytorch/checkpoint.hpp"

namespace tensorfs::pytorch {
namespace {

using pickle::Handle;
using pickle::Pickle;
using pickle::Type;

/// More than a pickle that is not made to hurt has room for.
constexpr std::size_t max_storages = std::size_t{1} << 20;
constexpr std::size_t max_ids = std::size_t{2} << 20;

/// An integer that counts something; nothing if it is none.
std::optional<std::uint64_t> count(const Pickle& pickle, Handle value) {
    const std::optional<std::int64_t> number = pickle.integer(value);
    if (!number || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

}  // namespace

/// What the ids are read of, and where to say what is wrong with them.
struct Storages::Source {
    const Pickle& pickle;
    Form form;
    const std::string& path;
    std::vector<Problem>& problems;

    [[noreturn]] void fail(std::string text) const { throw Error({Kind::InvalidPickle, path, {}, std::move(text)}); }
    void refuse(Storage& storage, std::string text) const {
        if (!storage.is_bad && problems.size() < max_told)
            problems.push_back({Kind::StorageOutOfBounds, path, {}, std::move(text)});
        storage.is_bad = true;
    }
};

Storages::Storages(const Pickle& pickle, Form form, const std::string& path, std::vector<Problem>& problems) {
    const Source source{pickle, form, path, problems};
    for (std::uint32_t i = 0; i < pickle.nodes(); ++i) {
        if (pickle.type(Pickle::node(i)) == Type::persistent_id) read(source, Pickle::node(i));
    }
}

Storage* Storages::find(std::string_view key) {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &all_[found->second];
}

const StoragePart* Storages::part(Handle persistent_id) const {
    const std::optional<std::uint32_t> node = Pickle::position(persistent_id);
    if (!node) return nullptr;
    const auto found =
        std::lower_bound(ids_.begin(), ids_.end(), *node, [](const Id& id, std::uint32_t at) { return id.node < at; });
    return found == ids_.end() || found->node != *node ? nullptr : &found->part;
}

void Storages::read(const Source& source, Handle id) {
    const Pickle& pickle = source.pickle;
    const Handle tuple = pickle.persistent_id(id);
    const std::vector<Handle> fields = pickle.items(tuple).first(7);
    const std::optional<std::string_view> kind = fields.empty() ? std::nullopt : pickle.string(fields[0]);
    if (pickle.type(tuple) != Type::tuple || !kind) source.fail("a persistent id is not the tuple that PyTorch makes");
    if (source.form == Form::legacy && *kind == "module" && fields.size() == 4) return;
    if (*kind != "storage") source.fail(fmt::format("a persistent id is of {}, not of a storage", in_quotes(*kind)));
    const std::size_t size = source.form == Form::archive ? 5 : 6;
    if (fields.size() != size) {
        source.fail(fmt::format("a storage's persistent id has other than {} fields", size));
    }
    const bool is_class = pickle.type(fields[1]) == Type::global;
    const std::string_view class_name = is_class ? pickle.global(fields[1]).name : std::string_view();
    const std::optional<std::string_view> key = pickle.string(fields[2]);
    const std::optional<std::uint64_t> elements = count(pickle, fields[4]);
    if (class_name.find("Storage") == std::string_view::npos) source.fail("a storage's class is none");
    if (!key) source.fail("a storage's key is no text");
    if (!elements) source.fail(fmt::format("the storage {} has no number of elements", in_quotes(*key)));

    if (all_.size() == max_storages || ids_.size() == max_ids) source.fail("it has more storages than are read");
    // A second id of the same key is the same storage, whatever else it says.
    const auto [known, is_new] = by_key_.try_emplace(*key, static_cast<std::uint32_t>(all_.size()));
    if (is_new) {
        Storage& storage = all_.emplace_back();
        storage.key = *key;
        storage.type = storage_class(class_name);
        storage.class_name = class_name;
        storage.elements = *elements;
        if (storage.type != nullptr && __builtin_mul_overflow(*elements, storage.type->width, &storage.nbytes)) {
            storage.nbytes = UINT64_MAX;  // as good as what it is: no file has it
            source.refuse(storage, fmt::format("the storage {} has {} elements, too many for any file", in_quotes(*key),
                                               *elements));
        }
    }
    StoragePart part{known->second, 0, all_[known->second].nbytes};
    if (source.form == Form::legacy && !pickle.is_none(fields[5])) part = view(source, fields[5], part);
    ids_.push_back({*Pickle::position(id), part});
}

StoragePart Storages::view(const Source& source, Handle tuple, StoragePart root) {
    const Pickle& pickle = source.pickle;
    const std::vector<Handle> fields = pickle.items(tuple).first(4);  // key, first element, elements
    const bool is_whole = pickle.type(tuple) == Type::tuple && fields.size() == 3;
    const std::optional<std::uint64_t> first = is_whole ? count(pickle, fields[1]) : std::nullopt;
    const std::optional<std::uint64_t> size = is_whole ? count(pickle, fields[2]) : std::nullopt;
    if (!first || !size) source.fail("a view of a storage is not the tuple that PyTorch makes");
    Storage& storage = all_[root.storage];
    if (*first > storage.elements || *size > storage.elements - *first) {
        source.refuse(storage, fmt::format("a view of the storage {} ends beyond its {} elements",
                                           in_quotes(storage.key), storage.elements));
    }
    if (storage.is_bad) return root;
    const std::uint64_t width = storage.type == nullptr ? 0 : storage.type->width;
    return {root.storage, *first * width, *size * width};  // no more than its nbytes
}

Handle class_of(const Pickle& pickle, Handle callee) {
    if (pickle.type(callee) != Type::persistent_id) return callee;
    const std::vector<Handle> fields = pickle.items(pickle.persistent_id(callee)).first(2);
    return fields.size() == 2 && pickle.string(fields[0]) == "module" ? fields[1] : callee;
}

}  // namespace tensorfs::pytorch
