#include "core/views/pytorch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/little_endian.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "core/views/zip_writer.hpp"

namespace tensorfs {
namespace {

/// The storage class of PyTorch that holds elements of a type.
std::string_view storage_class(Dtype dtype) {
    switch (dtype) {
        case Dtype::BOOL: return "BoolStorage";
        case Dtype::I8: return "CharStorage";
        case Dtype::I16:
        case Dtype::U16: return "ShortStorage";
        case Dtype::F16: return "HalfStorage";
        case Dtype::BF16: return "BFloat16Storage";
        case Dtype::I32:
        case Dtype::U32: return "IntStorage";
        case Dtype::F32: return "FloatStorage";
        case Dtype::C64: return "ComplexFloatStorage";
        case Dtype::F64: return "DoubleStorage";
        case Dtype::I64:
        case Dtype::U64: return "LongStorage";
        default: return "ByteStorage";
    }
}

/// Writes a pickle of protocol 2 (Python's pickletools tells of its opcodes). What stands more than once
/// is remembered in the memo, as pickle itself does.
class Pickle {
public:
    Pickle() : text_("\x80\x02") {}

    void op(char code) { text_ += code; }

    void integer(std::uint64_t value) {
        if (value <= 0xFF) {
            put('K', value, 1);
        } else if (value <= 0xFFFF) {
            put('M', value, 2);
        } else if (value <= 0x7FFFFFFF) {
            put('J', value, 4);
        } else {
            text_ += "\x8a\x09";  // nine bytes, so that the highest bit is no sign
            append_little_endian(text_, value, 8);
            text_ += '\0';
        }
    }

    void text(std::string_view value) {
        put('X', value.size(), 4);
        text_ += value;
    }

    void remembered_text(std::string_view value) {
        remembered("text " + std::string(value), [&] { text(value); });
    }

    /// The object NAME of a Python module.
    void global(std::string_view module, std::string_view name) {
        remembered(fmt::format("{}.{}", module, name), [&] { text_ += fmt::format("c{}\n{}\n", module, name); });
    }

    std::string finish() {
        op('.');
        return std::move(text_);
    }

private:
    template <typename Write>
    void remembered(const std::string& what, const Write& write) {
        for (std::size_t i = 0; i < memo_.size(); ++i) {
            if (memo_[i] != what) continue;
            put('h', i, 1);
            return;
        }
        write();
        put('q', memo_.size(), 1);  // far fewer than 256
        memo_.push_back(what);
    }

    void put(char code, std::uint64_t value, std::size_t size) {
        op(code);
        append_little_endian(text_, value, size);
    }

    std::string text_;
    std::vector<std::string> memo_;
};

constexpr char mark = '(', make_tuple = 't', empty_tuple = ')', call = 'R', persistent_id = 'Q', no = '\x89',
               empty_dict = '}', set_items = 'u';

void write_tuple(Pickle& pickle, Shape values) {
    pickle.op(mark);
    for (const std::uint64_t value : values) pickle.integer(value);
    pickle.op(make_tuple);
}

/// How many elements lie between neighbours of each dimension, in C order. As PyTorch has it, a
/// dimension of 0 counts as 1.
std::vector<std::uint64_t> strides_of(Shape shape) {
    std::vector<std::uint64_t> strides(shape.size());
    std::int64_t stride = 1;  // which PyTorch's strides are
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = static_cast<std::uint64_t>(stride);
        if (__builtin_mul_overflow(stride, std::max<std::uint64_t>(shape[i], 1), &stride)) {
            stride = std::numeric_limits<std::int64_t>::max();  // next to a 0: no element is there to be found
        }
    }
    return strides;
}

/// torch._utils._rebuild_tensor_v2(storage, 0, shape, strides, requires_grad=False, OrderedDict())
void write_tensor(Pickle& pickle, const FileTensor& tensor, std::size_t number) {
    const std::vector<std::uint64_t> shape = tensor.shape();

    pickle.global("torch._utils", "_rebuild_tensor_v2");
    pickle.op(mark);
    pickle.op(mark);
    pickle.remembered_text("storage");
    pickle.global("torch", storage_class(tensor.dtype));
    pickle.text(std::to_string(number));
    pickle.remembered_text("cpu");
    pickle.integer(is_packed(tensor.dtype) ? tensor.nbytes() : tensor.tensor->elements());
    pickle.op(make_tuple);
    pickle.op(persistent_id);
    pickle.integer(0);
    write_tuple(pickle, shape);
    write_tuple(pickle, strides_of(shape));
    pickle.op(no);
    pickle.global("collections", "OrderedDict");
    pickle.op(empty_tuple);
    pickle.op(call);
    pickle.op(make_tuple);
    pickle.op(call);
}

std::string pickle_of(std::span<const FileTensor> tensors) {
    Pickle pickle;
    std::string storage;
    pickle.op(empty_dict);
    pickle.op(mark);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        pickle.text(utf8_name(*tensors[i].tensor, storage));
        write_tensor(pickle, tensors[i], i);
    }
    pickle.op(set_items);
    return pickle.finish();
}

/// The checksums of small tensors. Who checks them reads such an archive's members one by one, and most that are small
/// are what a program looks at first; to know all, the whole model would have to be read.
class Checksums {
public:
    explicit Checksums(const Model& model) : model_(model) {}

    /// Nothing where it was not computed.
    std::optional<std::uint32_t> of(const Tensor& tensor) {
        if (tensor.nbytes() > largest || tensor.nbytes() > left_) return std::nullopt;
        left_ -= tensor.nbytes();
        bytes_.resize(tensor.nbytes());
        Content content;
        content.add(tensor);
        try {
            read_range(content, 0, std::as_writable_bytes(std::span(bytes_)), model_.shards());
        } catch (const Error&) {
            return std::nullopt;  // who reads the tensor itself is told
        }
        return zip_checksum(bytes_);
    }

private:
    static constexpr std::uint64_t largest = 64 << 10;

    const Model& model_;
    std::uint64_t left_ = 16 << 20;
    std::string bytes_;
};

}  // namespace

ModelFile pytorch_file(std::span<const FileTensor> tensors, const ChecksumOf& checksum_of) {
    // The names of files, and what version means: torch.serialization and caffe2/serialize/versions.h.
    const std::string folder = "pytorch_model/";
    ZipWriter zip;
    zip.add(folder + "data.pkl", pickle_of(tensors));
    zip.add(folder + "byteorder", "little");
    if (const std::string types = quantised_types(tensors); !types.empty()) {
        zip.add(folder + ".tensorfs/quantised.json", types);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        zip.add(fmt::format("{}data/{}", folder, i), "", tensors[i], checksum_of(i));
    }
    zip.add(folder + "version", "3\n");
    return zip.finish();
}

Content pytorch_view(const Model& model) {
    Checksums checksums(model);
    return pytorch_file(file_tensors(model), [&](std::size_t i) { return checksums.of(model.tensors()[i]); }).content;
}

}  // namespace tensorfs
