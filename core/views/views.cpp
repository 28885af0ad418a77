#include "core/views/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/base/escape.hpp"
#include "core/tensors/widen.hpp"
#include "core/views/npy.hpp"

namespace tensorfs {

std::vector<std::uint64_t> stored_shape(const Tensor& tensor) {
    std::vector<std::uint64_t> shape(tensor.shape().begin(), tensor.shape().end());
    const Block unit = block_of(tensor.dtype());
    if (unit.elements == 1) return shape;
    if (shape.empty() || shape.back() % unit.elements != 0) return {tensor.nbytes()};
    shape.back() = shape.back() / unit.elements * unit.nbytes;
    return shape;
}

namespace {

/// Whether "%" and two hexadecimal digits as escaping writes them stand there.
bool is_escape(std::string_view text) {
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
    return text.size() >= 3 && text[0] == '%' && is_digit(text[1]) && is_digit(text[2]);
}

}  // namespace

std::string_view utf8_name(const Tensor& tensor, std::string& storage) {
    const std::string_view folder = tensor.full_name().substr(0, tensor.prefix());
    bool is_as_it_is = true;
    storage.clear();
    for (std::size_t at = 0, length = 0; at < folder.size(); at += std::max<std::size_t>(length, 1)) {
        length = utf8_length(folder.substr(at));
        if (length == 0 || is_escape(folder.substr(at))) is_as_it_is = false;
        if (length == 0 || folder[at] == '%') {
            fmt::format_to(std::back_inserter(storage), "%{:02X}", static_cast<unsigned char>(folder[at]));
        } else {
            storage += folder.substr(at, length);
        }
    }
    if (is_as_it_is) return tensor.full_name();
    return storage += tensor.name();
}

Content raw_view(const Tensor& tensor) {
    Content content;
    content.add(tensor);
    return content;
}

namespace {

constexpr std::string_view wide_type = "<f4";

}  // namespace

std::string_view npy_type(Dtype dtype) {
    if (!info(dtype).numpy.empty()) return info(dtype).numpy;
    return block_of(dtype) == Block{1, 2} ? "<u2" : "|u1";
}

std::string npy_view_header(const Tensor& tensor, Shape shape) {
    return npy_header(npy_type(tensor.dtype()), is_packed(tensor.dtype()) ? Shape(stored_shape(tensor)) : shape);
}

std::string f32_view_header(const Tensor& tensor, Shape shape) {
    return can_widen(tensor.dtype()) ? npy_header(wide_type, shape) : npy_view_header(tensor, shape);
}

Content npy_view(const Tensor& tensor) {
    Content content;
    content.add(npy_view_header(tensor, tensor.shape())).add(tensor);
    return content;
}

Content f32_view(const Tensor& tensor) {
    if (!can_widen(tensor.dtype())) return npy_view(tensor);
    Content content;
    content.add(f32_view_header(tensor, tensor.shape())).add_widened(tensor);
    return content;
}

std::uint64_t raw_view_size(const Tensor& tensor) { return tensor.nbytes(); }

std::uint64_t npy_view_size(const Tensor& tensor) {
    return npy_header_size(npy_type(tensor.dtype()), stored_shape(tensor)) + tensor.nbytes();
}

std::uint64_t f32_view_size(const Tensor& tensor) {
    if (!can_widen(tensor.dtype())) return npy_view_size(tensor);
    return npy_header_size(wide_type, tensor.shape()) + tensor.elements() * sizeof(float);
}

}  // namespace tensorfs
