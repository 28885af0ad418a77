#include "core/formats/pytorch/legacy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/escape.hpp"
#include "core/base/little_endian.hpp"
#include "core/formats/pickle/opcode.hpp"
#include "core/formats/pickle/syntax_error.hpp"
#include "core/formats/pytorch/code.hpp"
#include "core/formats/pytorch/named_tensors.hpp"
#include "core/tensors/scattered_read.hpp"

namespace tensorfs::pytorch {
namespace {

using pickle::Handle;
using pickle::Pickle;
using pickle::Type;

constexpr std::string_view magic{"\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19", 10};
constexpr std::int64_t protocol_version = 1001;

bool is_magic(const Pickle& pickle) {
    return pickle.type(pickle.root()) == Type::large_integer && pickle.large_integer(pickle.root()) == magic;
}

/// Pickles one after the other, of which each has to be walked to find the next.
class Stream {
public:
    explicit Stream(const Shard& shard) : shard_(shard) {}

    /// Where the next pickle begins, or what follows the last.
    [[nodiscard]] std::uint64_t offset() const { return offset_; }

    /// The bytes of the next pickle, read as far as it goes and little farther. Throws Error.
    std::string next(std::string_view what) {
        const std::uint64_t most = std::min(shard_.size() - offset_, pickle::max_pickle_size);
        std::string bytes;
        std::uint64_t reached = 0, needed = 1;
        try {
            for (;;) {
                if (needed > most)
                    fail(what, most == pickle::max_pickle_size ? "it is too large" : "the file was cut short");
                const std::uint64_t have = bytes.size();
                bytes.resize(std::min(std::max({needed, have * 2, first_read}), most));
                shard_.read(offset_ + have, std::span(bytes).subspan(have));
                const pickle::End end = pickle::find_end(bytes, reached);
                needed = end.at;
                if (!end.is_found) continue;
                bytes.resize(end.at);
                offset_ += end.at;
                return bytes;
            }
        } catch (const pickle::SyntaxError& e) {
            fail(what, e.what());
        }
    }

    Pickle parse(std::string_view bytes, std::string_view what) const {
        try {
            return pickle::read_pickle(bytes);
        } catch (const pickle::SyntaxError& e) {
            fail(what, e.what());
        }
    }

    [[noreturn]] void fail(std::string_view what, std::string_view why) const {
        throw Error({Kind::InvalidPickle, shard_.path(), {}, fmt::format("the pickle of {}: {}", what, why)});
    }

private:
    static constexpr std::uint64_t first_read = 4096;

    const Shard& shard_;
    std::uint64_t offset_ = 0;
};

/// Finds the storages behind the pickles, in the order of the list of their keys.
class Places {
public:
    Places(const Shard& shard, Storages& storages) : shard_(shard), storages_(storages) {}

    void find(const Pickle& keys, std::uint64_t offset) {
        list(keys);
        // The pickle says where each is, if the file is sound; so that the counts that show whether it is
        // can be read together.
        std::vector<SmallRange> counts;
        for (const std::uint32_t position : order_) {
            Storage& storage = storages_.all()[position];
            if (offset > shard_.size() || shard_.size() - offset < count_size) break;
            counts.push_back({offset, count_size});
            storage.offset = offset += count_size;
            if (shard_.size() - offset < storage.nbytes) break;
            offset += storage.nbytes;
            ++whole_;
        }
        std::vector<std::uint64_t> elements(counts.size());
        read_scattered(shard_, counts, [&](std::size_t i, std::string_view bytes) {
            elements[i] = little_endian_at(bytes, 0, bytes.size());
        });
        check(elements);
    }

private:
    static constexpr std::uint32_t count_size = 8;

    void list(const Pickle& keys) {
        if (keys.type(keys.root()) != Type::list) fail(Kind::InvalidPickle, "the storages' keys are no list");
        std::vector<bool> is_found(storages_.all().size());
        for (const Handle item : keys.items(keys.root())) {
            const std::optional<std::string_view> key = keys.string(item);
            if (!key) fail(Kind::InvalidPickle, "a listed key is no text");
            const Storage* const storage = storages_.find(*key);
            const std::string name = in_quotes(*key);
            if (storage == nullptr) fail(Kind::InvalidPickle, fmt::format("nothing uses the storage {}", name));
            const auto position = static_cast<std::uint32_t>(storage - storages_.all().data());
            if (is_found[position]) fail(Kind::InvalidPickle, fmt::format("the storage {} is listed twice", name));
            is_found[position] = true;
            order_.push_back(position);
            if (storage->type == nullptr) {
                fail(Kind::InvalidPickle,
                     fmt::format("the storage {} is of an unknown class, {}, and so are the places "
                                 "of all behind it",
                                 name, in_quotes(storage->class_name)));
            }
        }
        const auto missing = std::find(is_found.begin(), is_found.end(), false);
        if (missing == is_found.end()) return;
        const Storage& storage = storages_.all()[static_cast<std::size_t>(missing - is_found.begin())];
        fail(Kind::MissingStorage, fmt::format("the storage {} is not in the file", in_quotes(storage.key)));
    }

    void check(const std::vector<std::uint64_t>& elements) const {
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const Storage& storage = storages_.all()[order_[i]];
            if (elements[i] == storage.elements) continue;
            fail(Kind::StorageOutOfBounds, fmt::format("the storage {} has {} elements, and not {} as the pickle says",
                                                       in_quotes(storage.key), elements[i], storage.elements));
        }
        if (whole_ == order_.size()) return;
        fail(Kind::StorageOutOfBounds, fmt::format("the storage {} ends behind the file's end: the file was cut short "
                                                   "or is still being downloaded",
                                                   in_quotes(storages_.all()[order_[whole_]].key)));
    }

    [[noreturn]] void fail(Kind kind, std::string text) const {
        throw Error({kind, shard_.path(), {}, std::move(text)});
    }

    const Shard& shard_;
    Storages& storages_;
    std::vector<std::uint32_t> order_;  // positions of the storages, as the list has them
    std::size_t whole_ = 0;             // how many of these the file has all bytes of
};

}  // namespace

bool is_legacy(std::string_view beginning) {
    try {
        return is_magic(pickle::read_pickle(beginning.substr(0, 64)));
    } catch (const pickle::SyntaxError&) {
        return false;
    }
}

Checkpoint read_legacy(const Shard& shard, std::string_view key) {
    constexpr std::array<std::string_view, 5> names{"the format", "the version", "the machine", "the object",
                                                    "the storages' keys"};
    Checkpoint checkpoint;
    Stream stream(shard);
    const auto next = [&](std::size_t number, std::string& bytes) {
        bytes = stream.next(names.at(number));
        Pickle pickle = stream.parse(bytes, names.at(number));
        try {
            add_code(checkpoint, pickle);
        } catch (const pickle::SyntaxError& e) {
            stream.fail(names.at(number), e.what());
        }
        return pickle;
    };
    std::string bytes, object_bytes;
    if (!is_magic(next(0, bytes))) stream.fail(names[0], "it is not that of PyTorch's");
    {
        const Pickle version = next(1, bytes);
        if (version.integer(version.root()) != protocol_version) stream.fail(names[1], "it is not 1001");
    }
    next(2, bytes);
    const Pickle object = next(3, object_bytes);
    const Pickle keys = next(4, bytes);

    Storages storages(object, Form::legacy, shard.path(), checkpoint.problems);
    Places(shard, storages).find(keys, stream.offset());
    add_tensors(checkpoint, object, storages, key, shard.path());
    return checkpoint;
}

}  // namespace tensorfs::pytorch
