#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/error.hpp"
#include "core/formats/pickle/pickle.hpp"
#include "core/formats/pytorch/tables.hpp"

namespace tensorfs::pytorch {

/// The two forms that PyTorch has saved in: the zip archive since 1.4, and the stream of pickles before.
enum class Form : std::uint8_t { archive, legacy };

/// What several tensors may share: bytes of the file.
struct Storage {
    std::string_view key;
    const StorageClass* type = nullptr;  // null if nobody knows it
    std::string_view class_name;         // as it stands
    std::uint64_t elements = 0;          // of its class
    std::uint64_t offset = 0;            // bytes from the start of the file
    std::uint64_t nbytes = 0;            // elements times width; 0 if its class is unknown
    std::string_view left_out;           // why its bytes are no slice of the file; "" if they are
    bool is_bad = false;                 // there is a Problem about it, so none is needed about its tensors
};

/// The bytes of a storage that a persistent id stands for.
struct StoragePart {
    std::uint32_t storage;                // position in Storages::all()
    std::uint64_t first = 0, nbytes = 0;  // from the start of the storage, in bytes
};

/// The storages that a pickle names, each once, in the order in which they are first met. Views into the
/// pickle.
class Storages {
public:
    /// Reads all persistent ids, also those of which nothing else comes. Throws Error (InvalidPickle) for
    /// one that PyTorch would not have either; a storage or a view that cannot be is a problem.
    Storages(const pickle::Pickle& pickle, Form form, const std::string& path, std::vector<Problem>& problems);

    [[nodiscard]] std::vector<Storage>& all() { return all_; }
    [[nodiscard]] const std::vector<Storage>& all() const { return all_; }
    /// The storage of that key; null if there is none.
    [[nodiscard]] Storage* find(std::string_view key);
    /// What a persistent id stands for; null where that is no storage.
    [[nodiscard]] const StoragePart* part(pickle::Handle persistent_id) const;

private:
    struct Source;
    struct Id {
        std::uint32_t node;
        StoragePart part;
    };

    void read(const Source& source, pickle::Handle id);
    StoragePart view(const Source& source, pickle::Handle tuple, StoragePart root);

    std::vector<Storage> all_;
    std::vector<Id> ids_;  // in order of the nodes
    std::unordered_map<std::string_view, std::uint32_t> by_key_;
};

/// The class that a call is of, past the persistent id ("module", class, file, source) by which the legacy
/// stream names the classes of whole modules.
pickle::Handle class_of(const pickle::Pickle& pickle, pickle::Handle callee);

}  // namespace tensorfs::pytorch
