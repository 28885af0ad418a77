#include "core/formats/pytorch/tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base/escape.hpp"

namespace tensorfs::pytorch {
namespace {

using pickle::Handle;
using pickle::Pickle;
using pickle::Type;
using Dims = std::vector<std::uint64_t>;

/// A tensor's call, without what is wrapped around it.
struct Call {
    Maker maker = Maker::other;
    Handle arguments;  // a tuple, or what stands for one
    bool may_be_conjugated = false;
};

/// The first element of a tuple or list; None if there is none.
Handle first_of(const Pickle& pickle, Handle value) {
    const auto items = pickle.items(value);
    return items.empty() ? Handle() : *items.begin();
}

/// Wrappers are few in practice, and could go round in a circle in a pickle made to hurt.
constexpr int max_wrappers = 64;

Call unwrap(const Pickle& pickle, Handle value) {
    Handle callee, arguments, state;
    const auto take = [&](Handle call) {
        if (pickle.type(call) != Type::call) return false;
        callee = class_of(pickle, pickle.callee(call));
        arguments = pickle.arguments(call);
        state = pickle.state(call);
        return true;
    };
    if (!take(value)) return {};
    for (int i = 0; i < max_wrappers; ++i) {
        if (pickle.type(callee) != Type::global) return {};
        const Pickle::Global global = pickle.global(callee);
        const Maker maker = maker_of(global);
        switch (maker) {
            case Maker::wrapped:
            case Maker::tensor_class: {
                // Classes can be called with nothing and get what they hold by BUILD.
                const Handle first = first_of(pickle, arguments);
                const Handle in_state = pickle.type(state) == Type::tuple ? first_of(pickle, state) : Handle();
                if (take(first)) break;
                if (pickle.type(in_state) == Type::persistent_id) return {Maker::tensor, state, false};
                if (!take(in_state)) return {};
                break;
            }
            case Maker::from_type: {
                const std::vector<Handle> fields = pickle.items(arguments).first(3);
                if (fields.size() < 3) return {};
                callee = class_of(pickle, fields[0]);
                arguments = fields[2];
                state = Handle();
                break;
            }
            default: return {maker, arguments, is_plain_tensor(global)};
        }
    }
    return {};
}

Reading left_out(std::string why) {
    Reading reading;
    reading.is = Reading::Is::left_out;
    reading.text = std::move(why);
    return reading;
}

Reading bad(Kind kind, std::string text) {
    Reading reading;
    reading.is = Reading::Is::bad;
    reading.kind = kind;
    reading.text = std::move(text);
    return reading;
}

/// A tuple of integers that are not negative, also as torch.Size; nothing if it is something else.
std::optional<Dims> dims(const Pickle& pickle, Handle value) {
    if (pickle.type(value) == Type::call && pickle.type(pickle.callee(value)) == Type::global) {
        const Pickle::Global callee = pickle.global(pickle.callee(value));
        if (callee.module == "torch" && callee.name == "Size") value = first_of(pickle, pickle.arguments(value));
    }
    if (pickle.type(value) != Type::tuple && pickle.type(value) != Type::list) return std::nullopt;
    Dims found;
    for (const Handle item : pickle.items(value)) {
        const std::optional<std::int64_t> number = pickle.integer(item);
        if (!number || *number < 0 || found.size() == max_rank) return std::nullopt;
        found.push_back(static_cast<std::uint64_t>(*number));
    }
    return found;
}

/// Whether a dict has a text key with a true value: {'conj': True}.
bool has_flag(const Pickle& pickle, Handle dict, std::string_view key) {
    if (pickle.type(dict) != Type::dict) return false;
    const auto items = pickle.items(dict);
    for (auto item = items.begin(); item != items.end(); ++item) {
        const Handle name = *item++;
        if (pickle.string(name) == key && pickle.is_true(*item)) return true;
    }
    return false;
}

/// Positions of a tensor's elements in its storage.
struct Extent {
    std::uint64_t elements = 0;  // the product of the shape
    std::uint64_t end = 0;       // behind the last one, counted in elements from the storage's start
};

/// Nothing where that does not fit 63 bits, as offsets in a file must; neither does the product of a shape
/// fit them, from the left, although a later dimension is 0.
std::optional<Extent> measure(std::uint64_t offset, const Dims& shape, const Dims& strides) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    Extent extent{1, offset};
    for (const std::uint64_t size : shape) {
        if (__builtin_mul_overflow(extent.elements, size, &extent.elements) || extent.elements > most) {
            return std::nullopt;
        }
    }
    if (extent.elements == 0) return extent;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        std::uint64_t way = 0;
        if (__builtin_mul_overflow(shape[i] - 1, strides[i], &way) ||
            __builtin_add_overflow(extent.end, way, &extent.end) || extent.end >= most) {
            return std::nullopt;
        }
    }
    ++extent.end;
    return extent;
}

/// Whether the elements follow each other in order. The stride of a dimension of 1 says nothing.
bool is_contiguous(const Dims& shape, const Dims& strides) {
    std::uint64_t next = 1;  // the product of the shape, which fits
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && strides[i] != next) return false;
        next *= shape[i];
    }
    return true;
}

/// The element type, and how many bytes one step of a stride is.
struct Element {
    std::optional<Dtype> dtype;
    std::uint64_t width = 0;
    std::string why_not;
};

Element element_of(const Pickle& pickle, const Storage& storage, Maker maker, const std::vector<Handle>& arguments) {
    if (maker != Maker::typed_tensor) {
        if (storage.type == nullptr) {
            return {std::nullopt, 0, fmt::format("unknown storage class {}", in_quotes(storage.class_name))};
        }
        return {storage.type->dtype, storage.type->width, std::string(storage.type->without_dtype)};
    }
    const bool is_global = arguments.size() > 6 && pickle.type(arguments[6]) == Type::global;
    const std::string_view name = is_global ? pickle.global(arguments[6]).name : "?";
    const std::optional<Dtype> dtype = dtype_of_torch(name);
    if (!dtype) return {std::nullopt, 0, fmt::format("safetensors has no type for {}", in_quotes(name))};
    return {dtype, block_of(*dtype).nbytes, {}};
}

Reading read_plain(const Pickle& pickle, const Storages& storages, const Call& call) {
    const std::vector<Handle> arguments = pickle.items(call.arguments).first(8);
    if (pickle.type(call.arguments) != Type::tuple || arguments.size() < 4) {
        return bad(Kind::InvalidPickle, "it is made without storage, offset, size and stride");
    }
    const StoragePart* const part = storages.part(arguments[0]);
    if (part == nullptr) return bad(Kind::InvalidPickle, "its storage is none");
    const std::optional<std::int64_t> offset = pickle.integer(arguments[1]);
    const std::optional<Dims> shape = dims(pickle, arguments[2]);
    const std::optional<Dims> strides = dims(pickle, arguments[3]);
    if (!offset || *offset < 0) return bad(Kind::InvalidPickle, "its offset is no number, or negative");
    if (!shape || !strides || shape->size() != strides->size()) {
        return bad(
            Kind::InvalidPickle,
            fmt::format("its size and stride are not as many numbers each, none negative and at most {}", max_rank));
    }

    const Storage& storage = storages.all()[part->storage];
    if (storage.is_bad) return bad(Kind::StorageOutOfBounds, {});
    const Element element = element_of(pickle, storage, call.maker, arguments);
    if (!element.dtype) return left_out(element.why_not);

    const std::optional<Extent> extent = measure(static_cast<std::uint64_t>(*offset), *shape, *strides);
    Reading reading;
    reading.is = Reading::Is::tensor;
    reading.dtype = *element.dtype;
    std::uint64_t end = 0;
    if (!extent || __builtin_mul_overflow(extent->end, element.width, &end) ||
        __builtin_mul_overflow(extent->elements, element.width, &reading.nbytes) ||
        reading.nbytes > std::numeric_limits<std::int64_t>::max()) {
        return bad(Kind::ValidationOverflow, "its size, stride and offset make more bytes than 63 bits count");
    }
    if (extent->elements != 0 && end > part->nbytes) {
        return bad(Kind::StorageOutOfBounds, fmt::format("it ends at byte {} of the {} of its storage {}", end,
                                                         part->nbytes, in_quotes(storage.key)));
    }
    if (!storage.left_out.empty()) return left_out(std::string(storage.left_out));
    const std::size_t metadata = call.maker == Maker::typed_tensor ? 7 : 6;
    if (call.may_be_conjugated && arguments.size() > metadata) {
        for (const std::string_view flag : {"conj", "neg"}) {
            if (has_flag(pickle, arguments[metadata], flag)) {
                return left_out(fmt::format("its values are not the stored ones (the bit {} is set)", flag));
            }
        }
    }

    reading.is_contiguous = extent->elements == 0 || is_contiguous(*shape, *strides);
    reading.offset = storage.offset;
    if (extent->elements != 0) reading.offset += part->first + static_cast<std::uint64_t>(*offset) * element.width;
    reading.shape = *shape;
    reading.strides = *strides;
    if (reading.dtype == Dtype::F4) {
        // PyTorch counts pairs, and safetensors elements: its writer doubles the last dimension, too.
        if (shape->empty() || !reading.is_contiguous) return left_out("pairs of F4 that do not lie in a row");
        reading.shape.back() *= 2;
        for (std::size_t i = 0; i + 1 < reading.strides.size(); ++i) reading.strides[i] *= 2;
    }
    return reading;
}

}  // namespace

bool is_tensor(const Pickle& pickle, Handle value) { return unwrap(pickle, value).maker != Maker::other; }

Reading read_tensor(const Pickle& pickle, const Storages& storages, Handle value) {
    const Call call = unwrap(pickle, value);
    switch (call.maker) {
        case Maker::tensor:
        case Maker::typed_tensor: return read_plain(pickle, storages, call);
        case Maker::sparse: return left_out("a sparse tensor");
        case Maker::nested: return left_out("a nested tensor");
        case Maker::meta: return left_out("a tensor without data (meta)");
        case Maker::wrapper: return left_out("a wrapper without data of its own");
        case Maker::inline_array: return left_out("its data is inside the pickle");
        case Maker::other:
        case Maker::wrapped:
        case Maker::from_type:
        case Maker::tensor_class: break;
    }
    return {};
}

}  // namespace tensorfs::pytorch
