#pragma once

// A PyTorch checkpoint is a pickle, a program that rebuilds an object, and beside it the bytes of the
// storages that tensors are views of. What the program would do is read as data (core/formats/pickle/),
// and nothing of it is done.
//
// A tensor's name is the way to it: keys of dicts and positions in lists, joined with "." (see
// containers.hpp). A container that is met on two ways gives its tensors both names; where it holds
// itself, the way is cut.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/tensors/dtype.hpp"

namespace tensorfs::pytorch {

/// A tensor that can be shown under one of its names.
struct Found {
    std::uint64_t name;   // position in Checkpoint::names
    std::uint64_t shape;  // position in Checkpoint::dims; the strides, in elements, stand behind the shape
    std::uint32_t name_size;
    std::uint32_t rank;
    std::uint64_t offset;  // of the first element, from the start of the file, in bytes
    std::uint64_t nbytes;  // of all its elements in a row
    Dtype dtype;
    bool is_contiguous;  // whether these are the slice of the file at `offset`; else the strides tell
};

/// Something that is there and not shown.
struct LeftOut {
    std::string name;  // of the tensor, or of the container that it is in where it has no name; not escaped
    std::string why;
};

/// An object that unpickling would look up, and that PyTorch's weights_only does not allow.
struct Code {
    std::string name;  // "os.system"; not escaped
    bool is_called;    // else only looked up, which imports its module
};

/// Of how many storages, and of how many tensors, it is told that something is wrong or missing. Sound checkpoints
/// have few such, and telling takes more memory than the rest.
inline constexpr std::size_t max_told = 10'000;

/// What a checkpoint holds.
struct Checkpoint {
    std::vector<Found> tensors;
    std::vector<char> names;
    std::vector<std::uint64_t> dims;
    std::vector<LeftOut> left_out;  // the first max_told
    std::uint64_t more_left_out = 0;
    std::vector<Code> code;         // each once
    std::vector<Problem> problems;  // for which PyTorch would not load it; `tensors` are those without any

    [[nodiscard]] std::string_view name(const Found& tensor) const {
        return {names.data() + tensor.name, tensor.name_size};
    }
    [[nodiscard]] std::span<const std::uint64_t> shape(const Found& tensor) const {
        return {dims.data() + tensor.shape, tensor.rank};
    }
    [[nodiscard]] std::span<const std::uint64_t> strides(const Found& tensor) const {
        return {dims.data() + tensor.shape + tensor.rank, tensor.rank};
    }
};

}  // namespace tensorfs::pytorch
