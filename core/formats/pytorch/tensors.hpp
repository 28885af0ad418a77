#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/formats/pickle/pickle.hpp"
#include "core/formats/pytorch/storages.hpp"
#include "core/tensors/dtype.hpp"

namespace tensorfs::pytorch {

/// The largest number of dimensions that is read, which is PyTorch's own.
inline constexpr std::size_t max_rank = 64;

/// Whether a value is a tensor of some kind: also one that cannot be shown. Takes constant time.
bool is_tensor(const pickle::Pickle& pickle, pickle::Handle value);

/// What a value that is_tensor() is.
struct Reading {
    enum class Is : std::uint8_t {
        tensor,
        left_out,  // a sound tensor that cannot be shown; `text` says why
        bad,       // `kind` and `text` say what is wrong; no text where the fault is its storage's, and said
        nothing,   // a wrapper without a tensor in it
    };

    Is is = Is::nothing;
    Dtype dtype{};
    std::uint64_t offset = 0;            // of the first element, from the start of the file, in bytes
    std::uint64_t nbytes = 0;            // of all elements in a row
    bool is_contiguous = true;           // whether these are a slice of the file
    std::vector<std::uint64_t> shape;    // in elements, outermost first
    std::vector<std::uint64_t> strides;  // between neighbours of each dimension, in elements
    Kind kind{};
    std::string text;
};

/// Reads the tensor that a value is. REQUIRES: is_tensor(pickle, value); the storages have their places.
Reading read_tensor(const pickle::Pickle& pickle, const Storages& storages, pickle::Handle value);

}  // namespace tensorfs::pytorch
