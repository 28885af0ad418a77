#include "core/formats/pytorch/pytorch.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/formats/pytorch/archive.hpp"
#include "core/formats/pytorch/legacy.hpp"
#include "core/formats/zip/directory.hpp"

namespace tensorfs::pytorch {

Checkpoint read_checkpoint(const Shard& shard, std::string_view key) {
    std::array<char, 64> buffer{};
    const std::size_t size = std::min<std::uint64_t>(shard.size(), buffer.size());
    shard.read(0, std::span(buffer).first(size));
    const std::string_view beginning(buffer.data(), size);
    if (beginning.starts_with("PK\x03\x04")) return read_archive(shard, zip::read_directory(shard), key);
    if (is_legacy(beginning)) return read_legacy(shard, key);
    // A tar archive names itself here; an empty one is none.
    std::array<char, 5> tar{};
    if (shard.size() >= 512) shard.read(257, tar);
    if (std::string_view(tar.data(), tar.size()) == "ustar") {
        throw Error({Kind::NotAModel,
                     shard.path(),
                     {},
                     "a tar archive: if PyTorch of before 2017 saved it, load and save it again with PyTorch"});
    }
    if (beginning.starts_with('\x80')) {
        throw Error({Kind::NotAModel, shard.path(), {}, "a pickle, but not one that PyTorch saved"});
    }
    throw Error({Kind::NotAModel, shard.path(), {}, "neither a zip archive nor a stream of pickles"});
}

}  // namespace tensorfs::pytorch
