#include "core/views/model_file.hpp"

#include "core/tensors/widen.hpp"
#include "core/views/views.hpp"

namespace tensorfs {

std::uint64_t FileTensor::nbytes() const {
    return is_converted() ? tensor->elements() * block_of(dtype).nbytes : tensor->nbytes();
}

std::vector<std::uint64_t> FileTensor::shape() const {
    if (!is_converted()) return stored_shape(*tensor);
    return {tensor->shape().begin(), tensor->shape().end()};
}

void FileTensor::add_to(Content& content) const {
    if (is_converted()) {
        content.add_converted(*tensor, dtype);
    } else {
        content.add(*tensor);
    }
}

FileTensor file_tensor(const Tensor& tensor, Floats floats) {
    const bool is_widened = floats == Floats::widened && can_widen(tensor.dtype());
    return {&tensor, is_widened ? Dtype::F32 : tensor.dtype()};
}

std::vector<FileTensor> file_tensors(const Model& model, Floats floats) {
    std::vector<FileTensor> all;
    all.reserve(model.tensors().size());
    for (const Tensor& tensor : model.tensors()) all.push_back(file_tensor(tensor, floats));
    return all;
}

void ModelFile::add(const FileTensor& tensor) {
    places.push_back({content.size(), tensor});
    tensor.add_to(content);
}

}  // namespace tensorfs
