#include "core/formats/pytorch/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/escape.hpp"
#include "core/formats/pickle/syntax_error.hpp"
#include "core/formats/pytorch/code.hpp"
#include "core/formats/pytorch/named_tensors.hpp"

namespace tensorfs::pytorch {
namespace {

constexpr std::string_view object_name = "data.pkl";

[[noreturn]] void fail(const Shard& shard, Kind kind, std::string text) {
    throw Error({kind, shard.path(), {}, std::move(text)});
}

/// The folder, with its slash, of a member that is the object in a folder at the top; else "".
std::string_view folder_of(const zip::Member& member) {
    const std::size_t slash = member.name.find('/');
    const bool is_object = slash != std::string_view::npos && member.name.substr(slash + 1) == object_name;
    return is_object ? member.name.substr(0, slash + 1) : std::string_view();
}

/// Where everything is: "archive/". Throws Error where that is nowhere (NotAModel), or in two places, of
/// which PyTorch would take that of the first member (InvalidArchive).
std::string_view top_folder(const zip::Directory& directory, const Shard& shard) {
    std::string_view found;
    for (const zip::Member& member : directory.members()) {
        const std::string_view folder = folder_of(member);
        if (!folder.empty() && !found.empty()) fail(shard, Kind::InvalidArchive, "it holds two checkpoints");
        if (!folder.empty()) found = folder;
    }
    if (found.empty()) fail(shard, Kind::NotAModel, "a zip archive that is no checkpoint: it has no FOLDER/data.pkl");
    return found;
}

std::string_view obstacle(const zip::Member& member) {
    switch (member.obstacle) {
        case zip::Obstacle::none: break;
        case zip::Obstacle::compressed: return "its bytes are compressed";
        case zip::Obstacle::encrypted: return "its bytes are encrypted";
    }
    return {};
}

/// All bytes of a member that is not to be longer than `most`.
std::string read_member(const Shard& shard, const zip::Member& member, std::uint64_t most) {
    if (const std::string_view why = obstacle(member); !why.empty()) {
        fail(shard, Kind::CompressedMember,
             fmt::format("{}: {}: load and save it again with PyTorch", in_quotes(member.name), why));
    }
    if (member.nbytes > most) {
        fail(shard, Kind::InvalidPickle,
             fmt::format("{} has {} bytes, more than the {} that are read", in_quotes(member.name), member.nbytes,
                         most));
    }
    std::string bytes(member.nbytes, '\0');
    shard.read(member.offset, bytes);
    return bytes;
}

void check_byte_order(const Shard& shard, const zip::Member* member) {
    if (member == nullptr) return;
    const std::string order = read_member(shard, *member, 64);
    if (order == "little") return;
    if (order == "big") fail(shard, Kind::BigEndian, "its elements are big-endian");
    fail(shard, Kind::InvalidPickle, fmt::format("its elements have an unknown byte order, {}", in_quotes(order)));
}

void place(Storages& storages, const Shard& shard, const zip::Directory& directory, std::string_view folder,
           std::vector<Problem>& problems) {
    std::string name;
    const auto refuse = [&](Storage& storage, Kind kind, std::string text) {
        if (!storage.is_bad && problems.size() < max_told)
            problems.push_back({kind, shard.path(), {}, std::move(text)});
        storage.is_bad = true;
    };
    for (Storage& storage : storages.all()) {
        name.assign(folder).append("data/").append(storage.key);
        const zip::Member* const member = directory.find(name);
        if (member == nullptr) {
            refuse(storage, Kind::MissingStorage, fmt::format("the archive has no {}, a storage", in_quotes(name)));
            continue;
        }
        storage.offset = member->offset;
        storage.left_out = obstacle(*member);
        if (storage.left_out.empty() && member->nbytes < storage.nbytes) {
            refuse(storage, Kind::StorageOutOfBounds,
                   fmt::format("{} has {} bytes, fewer than the {} of the storage", in_quotes(name), member->nbytes,
                               storage.nbytes));
        }
    }
}

}  // namespace

bool is_checkpoint(const zip::Directory& directory) {
    const auto members = directory.members();
    return std::any_of(members.begin(), members.end(), [](const zip::Member& one) { return !folder_of(one).empty(); });
}

Checkpoint read_archive(const Shard& shard, const zip::Directory& directory, std::string_view key) {
    const std::string folder(top_folder(directory, shard));
    if (directory.find(folder + "constants.pkl") != nullptr) {
        fail(shard, Kind::NotAModel, "this is TorchScript, a program: save the module's state_dict() with PyTorch");
    }
    check_byte_order(shard, directory.find(folder + "byteorder"));

    Checkpoint checkpoint;
    const std::string bytes =
        read_member(shard, *directory.find(folder + std::string(object_name)), pickle::max_pickle_size);
    try {
        const pickle::Pickle pickle = pickle::read_pickle(bytes);
        add_code(checkpoint, pickle);
        Storages storages(pickle, Form::archive, shard.path(), checkpoint.problems);
        place(storages, shard, directory, folder, checkpoint.problems);
        add_tensors(checkpoint, pickle, storages, key, shard.path());
    } catch (const pickle::SyntaxError& e) {
        fail(shard, Kind::InvalidPickle, fmt::format("{}: {}", object_name, e.what()));
    }
    return checkpoint;
}

}  // namespace tensorfs::pytorch
