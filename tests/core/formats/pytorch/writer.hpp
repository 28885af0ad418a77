#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/pytorch/pytorch.hpp"
#include "tests/core/formats/pickle/writer.hpp"
#include "tests/core/formats/zip/archive.hpp"

// Checkpoints written by hand, for what PyTorch would not write.

namespace tensorfs::tests {

using Dims = std::vector<std::int64_t>;
/// Storages' keys and bytes.
using StorageBytes = std::vector<std::pair<std::string, std::string>>;

/// A storage's persistent id, as an archive has it or, with a view, the legacy stream.
struct StorageId {
    std::string type = "FloatStorage";
    std::string key = "0";
    std::int64_t elements = 4;
};

inline PickleWriter& write_storage(PickleWriter& pickle, const StorageId& id, bool legacy = false) {
    pickle.mark().text("storage").global("torch", id.type).text(id.key).text("cpu").integer64(id.elements);
    if (legacy) pickle.none();
    return pickle.tuple().raw("Q");
}

/// A call of _rebuild_tensor_v2, a whole storage as a row unless told otherwise.
struct TensorCall {
    StorageId storage{};
    std::int64_t offset = 0;
    Dims size{4};
    Dims stride{1};
};

/// What stands behind the stride in the arguments: requires_grad and hooks.
inline PickleWriter& write_grad_and_hooks(PickleWriter& pickle) {
    return pickle.no().global("collections", "OrderedDict").raw(")R");
}

inline PickleWriter& write_arguments(PickleWriter& pickle, const TensorCall& call = {}, bool legacy = false) {
    pickle.mark();
    write_storage(pickle, call.storage, legacy).integer64(call.offset).integers(call.size).integers(call.stride);
    return write_grad_and_hooks(pickle).tuple();
}

inline PickleWriter& write_tensor(PickleWriter& pickle, const TensorCall& call = {}, bool legacy = false) {
    return write_arguments(pickle.global("torch._utils", "_rebuild_tensor_v2"), call, legacy).call();
}

/// Sixteen bytes, as many as the storage that is meant unless told otherwise.
inline StorageBytes one_storage() { return {{"0", std::string(16, 's')}}; }

/// An archive of a pickle and storages.
inline std::string archive(const std::string& pickle, const StorageBytes& storages = one_storage()) {
    std::vector<ZipMember> members{{"archive/data.pkl", pickle}};
    for (const auto& [key, bytes] : storages) members.push_back({"archive/data/" + key, bytes});
    return zip_archive(members);
}

/// A legacy stream of a pickle and storages, with their numbers of elements.
inline std::string legacy_stream(const std::string& pickle, const StorageBytes& storages, std::size_t width,
                                 int protocol = 2) {
    std::string file = PickleWriter(protocol).large_integer("\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19").stop() +
                       PickleWriter(protocol).integer(1001).stop() + PickleWriter(protocol).dict().stop() + pickle;
    PickleWriter keys(protocol);
    keys.list().mark();
    for (const auto& [key, bytes] : storages) keys.text(key);
    file += keys.appends().stop();
    for (const auto& [key, bytes] : storages) file += little_endian(bytes.size() / width, 8) + bytes;
    return file;
}

/// What a file of these bytes is read as. Throws Error.
inline pytorch::Checkpoint read_bytes(const std::string& bytes, std::string_view key = {}) {
    const TemporaryFolder folder;
    write_file(folder / "model.pt", bytes);
    return pytorch::read_checkpoint(Shard(folder / "model.pt"), key);
}

inline std::vector<std::string> names_of(const pytorch::Checkpoint& checkpoint) {
    std::vector<std::string> names;
    for (const pytorch::Found& tensor : checkpoint.tensors) names.emplace_back(checkpoint.name(tensor));
    return names;
}

}  // namespace tensorfs::tests
