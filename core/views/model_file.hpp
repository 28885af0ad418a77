#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/model/model.hpp"
#include "core/tensors/content.hpp"
#include "core/tensors/tensor.hpp"

namespace tensorfs {

// What files of many tensors have in common: merged.hpp, pytorch.hpp and npz.hpp.

/// A tensor as such a file has it. A plain value; the tensor must stay where it is.
struct FileTensor {
    const Tensor* tensor;
    Dtype dtype;  // of its elements there: its own, or one that they are converted to (convert.hpp)

    [[nodiscard]] bool is_converted() const { return dtype != tensor->dtype(); }
    /// Of its elements there.
    [[nodiscard]] std::uint64_t nbytes() const;
    /// As stored_shape(), but of elements that are converted, the tensor's own.
    [[nodiscard]] std::vector<std::uint64_t> shape() const;
    void add_to(Content& content) const;
};

/// How floats stand in a file of the whole model.
enum class Floats : std::uint8_t {
    as_stored,  // in their own types
    widened     // all that can_widen() as F32: loaders that know few types can take them
};

FileTensor file_tensor(const Tensor& tensor, Floats floats);
/// All tensors of a model, in data order.
std::vector<FileTensor> file_tensors(const Model& model, Floats floats = Floats::as_stored);

/// A file of many tensors.
struct ModelFile {
    /// Where a tensor's elements stand in the file.
    struct Place {
        std::uint64_t begin;
        FileTensor tensor;
    };

    Content content;
    std::vector<Place> places;  // in the order of the file

    void add(const FileTensor& tensor);
};

/// The CRC-32 of a tensor's elements, by its position in ModelFile::places; nothing where it is not known.
using ChecksumOf = std::function<std::optional<std::uint32_t>(std::size_t)>;

}  // namespace tensorfs
