#include "tests/core/formats/pytorch/writer.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// What a checkpoint says of a tensor, one at its root.

namespace {

using pytorch::Checkpoint;

Checkpoint read(const PickleWriter& pickle, const StorageBytes& storages = one_storage()) {
    return read_bytes(archive(pickle.stop(), storages));
}

/// One tensor's type, shape, place in its storage, and whether it is a slice; or what is said instead.
std::string told(const PickleWriter& pickle, const StorageBytes& storages = one_storage()) {
    Checkpoint checkpoint;
    const std::vector<Problem> problems = problems_of([&] { checkpoint = read(pickle, storages); });
    if (!problems.empty()) return std::string(to_string(problems[0].kind)) + ": " + problems[0].text;
    if (!checkpoint.problems.empty()) return std::string(to_string(checkpoint.problems[0].kind));
    const pytorch::Found& tensor = checkpoint.tensors.at(0);
    const std::string file = archive(pickle.stop(), storages);
    std::string text = std::string(to_string(tensor.dtype)) + " [";
    for (const std::uint64_t size : checkpoint.shape(tensor)) text += std::to_string(size) + ' ';
    text += "] at " + std::to_string(tensor.offset - file.find(storages.at(0).second)) + " of " +
            std::to_string(tensor.nbytes);
    if (!tensor.is_contiguous) {
        text += " strided [";
        for (const std::uint64_t stride : checkpoint.strides(tensor)) text += std::to_string(stride) + ' ';
        text += "]";
    }
    return text;
}

std::string told(const TensorCall& call, const StorageBytes& storages = one_storage()) {
    PickleWriter pickle;
    write_tensor(pickle, call);
    return told(pickle, storages);
}

PickleWriter typed_tensor(const std::string& dtype, const TensorCall& call) {
    PickleWriter pickle;
    pickle.global("torch._utils", "_rebuild_tensor_v3").mark();
    write_storage(pickle, call.storage).integer64(call.offset).integers(call.size).integers(call.stride);
    write_grad_and_hooks(pickle).global("torch", dtype).tuple().call();
    return pickle;
}

const StorageId untyped{"UntypedStorage", "0", 16};

}  // namespace

TEST_CASE("a tensor has the type of its storage, and offset and size count its elements") {
    const std::string plain = "F32 [4 ] at 0 of 16";
    CHECK(told(TensorCall{}) == plain);
    CHECK(told({{}, 1, {3}, {1}}) == "F32 [3 ] at 4 of 12");
    CHECK(told({{}, 3, {}, {}}) == "F32 [] at 12 of 4");
    CHECK(told({{"DoubleStorage", "0", 2}, 1, {1}, {1}}) == "F64 [1 ] at 8 of 8");
    CHECK(told({{"HalfStorage", "0", 8}, 1, {1}, {1}}) == "F16 [1 ] at 2 of 2");
    CHECK(told({{"BFloat16Storage", "0", 8}, 1, {1}, {1}}) == "BF16 [1 ] at 2 of 2");
    CHECK(told({{"LongStorage", "0", 2}, 1, {1}, {1}}) == "I64 [1 ] at 8 of 8");
    CHECK(told({{"IntStorage", "0", 4}, 1, {1}, {1}}) == "I32 [1 ] at 4 of 4");
    CHECK(told({{"ShortStorage", "0", 8}, 1, {1}, {1}}) == "I16 [1 ] at 2 of 2");
    CHECK(told({{"CharStorage", "0", 16}, 1, {1}, {1}}) == "I8 [1 ] at 1 of 1");
    CHECK(told({{"ByteStorage", "0", 16}, 1, {1}, {1}}) == "U8 [1 ] at 1 of 1");
    CHECK(told({{"BoolStorage", "0", 16}, 1, {1}, {1}}) == "BOOL [1 ] at 1 of 1");
    CHECK(told({{"ComplexFloatStorage", "0", 2}, 1, {1}, {1}}) == "C64 [1 ] at 8 of 8");
    CHECK(told({{"QInt8Storage", "0", 16}, 1, {1}, {1}}) == "I8 [1 ] at 1 of 1");
    CHECK(told({{"QUInt8Storage", "0", 16}, 1, {1}, {1}}) == "U8 [1 ] at 1 of 1");
    CHECK(told({{"QInt32Storage", "0", 4}, 1, {1}, {1}}) == "I32 [1 ] at 4 of 4");
    CHECK(told({{"UntypedStorage", "0", 16}, 1, {1}, {1}}) == "U8 [1 ] at 1 of 1");
    CHECK(told({{"_UntypedStorage", "0", 16}, 1, {1}, {1}}) == "U8 [1 ] at 1 of 1");
}

TEST_CASE("a tensor is a slice where its elements follow each other, else its strides are told") {
    CHECK(told({{}, 0, {2, 2}, {2, 1}}) == "F32 [2 2 ] at 0 of 16");
    CHECK(told({{}, 0, {2, 2}, {1, 2}}) == "F32 [2 2 ] at 0 of 16 strided [1 2 ]");
    CHECK(told({{}, 1, {2}, {2}}) == "F32 [2 ] at 4 of 8 strided [2 ]");
    CHECK(told({{}, 1, {3, 2}, {0, 1}}) == "F32 [3 2 ] at 4 of 24 strided [0 1 ]");
    // A dimension of 1 is gone no step in, and an empty tensor in none.
    CHECK(told({{}, 0, {1, 4, 1}, {7, 1, 99}}) == "F32 [1 4 1 ] at 0 of 16");
    CHECK(told({{}, 0, {2, 0}, {5, 9}}) == "F32 [2 0 ] at 0 of 0");
    CHECK(told({{}, 99, {0}, {1}}) == "F32 [0 ] at 0 of 0");
}

TEST_CASE("an untyped storage's tensor says its type, and pairs of F4 are two elements") {
    CHECK(told(typed_tensor("uint16", {untyped, 2, {3}, {1}})) == "U16 [3 ] at 4 of 6");
    CHECK(told(typed_tensor("uint32", {untyped, 1, {3}, {1}})) == "U32 [3 ] at 4 of 12");
    CHECK(told(typed_tensor("uint64", {untyped, 1, {1}, {1}})) == "U64 [1 ] at 8 of 8");
    CHECK(told(typed_tensor("float8_e4m3fn", {untyped, 2, {2, 2}, {1, 2}})) ==
          "F8_E4M3 [2 2 ] at 2 of 4 strided [1 2 ]");
    CHECK(told(typed_tensor("float4_e2m1fn_x2", {untyped, 2, {2, 3}, {3, 1}})) == "F4 [2 6 ] at 2 of 6");
    CHECK(told(typed_tensor("float4_e2m1fn_x2", {untyped, 0, {2, 2}, {1, 2}})) ==
          "NotAModel: none of its tensors can be shown: \"\": pairs of F4 that do not lie in a row");
    CHECK(told(typed_tensor("float4_e2m1fn_x2", {untyped, 0, {}, {}})) ==
          "NotAModel: none of its tensors can be shown: \"\": pairs of F4 that do not lie in a row");
    CHECK(told(typed_tensor("int3", {untyped, 0, {4}, {1}})) ==
          "NotAModel: none of its tensors can be shown: \"\": safetensors has no type for \"int3\"");
}

TEST_CASE("a tensor that its storage does not hold is refused, and no sum wraps") {
    constexpr std::int64_t most = INT64_MAX;
    CHECK(told({{}, 1, {4}, {1}}) == "StorageOutOfBounds");
    CHECK(told({{}, 0, {5}, {1}}) == "StorageOutOfBounds");
    CHECK(told({{}, 0, {2, 2}, {3, 1}}) == "StorageOutOfBounds");
    CHECK(told({{}, 4, {}, {}}) == "StorageOutOfBounds");
    CHECK(told({{}, most, {1}, {1}}) == "ValidationOverflow");
    CHECK(told({{}, most / 4, {1}, {1}}) == "StorageOutOfBounds");
    CHECK(told({{}, 0, {2}, {most}}) == "ValidationOverflow");
    CHECK(told({{}, 0, {2, 2}, {most / 2 + 1, most / 2 + 1}}) == "ValidationOverflow");
    CHECK(told({{}, 0, {most, most}, {0, 0}}) == "ValidationOverflow");
    CHECK(told({{}, 0, {most, most, 0}, {0, 0, 0}}) == "ValidationOverflow");
    CHECK(told({{}, 0, {most}, {0}}) == "ValidationOverflow");  // four bytes each
    CHECK(told({{}, 0, {std::int64_t{1} << 40}, {0}}) == "F32 [1099511627776 ] at 0 of 4398046511104 strided [0 ]");
    CHECK(told(typed_tensor("uint16", {untyped, 2, {7}, {1}})) == "StorageOutOfBounds");
}

TEST_CASE("a tensor whose numbers are none is refused") {
    CHECK(told({{}, -1, {1}, {1}}) == "InvalidPickle");
    CHECK(told({{}, 0, {-1}, {1}}) == "InvalidPickle");
    CHECK(told({{}, 0, {1}, {-1}}) == "InvalidPickle");
    CHECK(told({{}, 0, {1}, {1, 1}}) == "InvalidPickle");
    CHECK(told({{}, 0, Dims(64, 1), Dims(64, 1)}).starts_with("F32 [1 1 "));
    CHECK(told({{}, 0, Dims(65, 1), Dims(65, 1)}) == "InvalidPickle");
    const auto with = [](const std::string& offset, const std::string& size) {
        PickleWriter pickle;
        pickle.global("torch._utils", "_rebuild_tensor_v2").mark();
        write_storage(pickle, {}).raw(offset).raw(size).integers(Dims{1});
        write_grad_and_hooks(pickle).tuple().call();
        return told(pickle);
    };
    const std::string zero(1, '\0');
    CHECK(with("K" + zero, "K\4\x85") == "F32 [4 ] at 0 of 16");
    CHECK(with("K" + zero, "ctorch\nSize\nK\4\x85\x85R") == "F32 [4 ] at 0 of 16");
    CHECK(with("K" + zero, "]K\4a") == "F32 [4 ] at 0 of 16");
    CHECK(with("K" + zero, "cos\nsystem\nX\1" + std::string(3, '\0') + "x\x85R") == "InvalidPickle");
    CHECK(with("cos\nsystem\n)R", "K\4\x85") == "InvalidPickle");
    CHECK(with("N", "K\4\x85") == "InvalidPickle");
    CHECK(with("K" + zero, "K\4") == "InvalidPickle");
    CHECK(with("K" + zero, "N\x85") == "InvalidPickle");
    CHECK(with("K" + zero, "\x8A\x09" + std::string(8, '\xFF') + zero + "\x85") == "InvalidPickle");
    PickleWriter no_arguments, no_storage;
    CHECK(told(no_arguments.global("torch._utils", "_rebuild_tensor_v2").raw(")R")) == "InvalidPickle");
    no_storage.global("torch._utils", "_rebuild_tensor_v2").mark().none().integer(0).integers(Dims{}).integers(Dims{});
    CHECK(told(no_storage.tuple().call()) == "InvalidPickle");
}

TEST_CASE("a tensor is found inside what wraps it") {
    const std::string plain = "F32 [4 ] at 0 of 16";
    const auto wrapped = [](const std::string& module, const std::string& name, const std::string& rest) {
        PickleWriter pickle;
        write_tensor(pickle.global(module, name).mark()).raw(rest).tuple().call();
        return told(pickle);
    };
    CHECK(wrapped("torch._utils", "_rebuild_parameter", "\x88}") == plain);
    CHECK(wrapped("torch._utils", "_rebuild_parameter_with_state", "\x88}}") == plain);
    CHECK(wrapped("torch._utils", "_rebuild_device_tensor_from_cpu_tensor", "NN\x89") == plain);
    CHECK(wrapped("torch.nn.parameter", "Parameter", "\x88") == plain);
    CHECK(contains(wrapped("torch.nn", "Parameter2", ""), "NotAModel"));
    for (const std::string name : {"_rebuild_from_type_v2", "_rebuild_from_type"}) {
        for (const std::string module : {"torch._tensor", "torch.tensor"}) {
            PickleWriter pickle;
            pickle.global(module, name).mark().global("torch._utils", "_rebuild_tensor_v2").global("my", "Class");
            CHECK(told(write_arguments(pickle).dict().tuple().call()) == plain);
        }
    }
    PickleWriter built;
    built.global("torch.nn.parameter", "Parameter").raw(")\x81").mark();
    CHECK(told(write_tensor(built).raw("\x88}").tuple().build()) == plain);
    for (const std::string name : {"FloatTensor", "Tensor"}) {
        PickleWriter old;
        old.global("torch", name).raw(")R").mark();
        CHECK(told(write_storage(old, {}).integer(0).integers(Dims{4}).integers(Dims{1}).tuple().build()) == plain);
    }
}

TEST_CASE("wrappers around wrappers end, also where they go round in a circle") {
    const auto nested = [](int levels) {
        PickleWriter pickle;
        for (int i = 0; i < levels; ++i) pickle.global("torch._utils", "_rebuild_parameter").mark();
        write_tensor(pickle);
        for (int i = 0; i < levels; ++i) pickle.yes().tuple().call();
        return told(pickle);
    };
    CHECK(nested(10) == "F32 [4 ] at 0 of 16");
    CHECK(contains(nested(1000), "NotAModel"));
    // p = Parameter(); p.__setstate__((p,))
    PickleWriter circle;
    circle.global("torch.nn.parameter", "Parameter").raw(")\x81").put(0).get(0).raw("\x85").build();
    CHECK(contains(told(circle), "NotAModel"));
    // _rebuild_from_type(_rebuild_from_type, …, the arguments themselves) cannot be written but by a list.
    PickleWriter list;
    list.global("torch._tensor", "_rebuild_from_type").put(0).list().put(1).mark().get(0).none().get(1).appends();
    CHECK(contains(told(list.call()), "NotAModel"));
}

TEST_CASE("a tensor that has no bytes of its own, or others than its values, is left out with the reason") {
    const auto reason = [](const std::string& module, const std::string& name) {
        return told(PickleWriter().global(module, name).raw(")R"));
    };
    CHECK(contains(reason("torch._utils", "_rebuild_sparse_tensor"), "sparse"));
    CHECK(contains(reason("torch._utils", "_rebuild_sparse_csr_tensor"), "sparse"));
    CHECK(contains(reason("torch._utils", "_rebuild_nested_tensor"), "nested"));
    CHECK(contains(reason("torch._utils", "_rebuild_meta_tensor_no_storage"), "meta"));
    CHECK(contains(reason("torch._utils", "_rebuild_wrapper_subclass"), "wrapper"));
    CHECK(contains(reason("torch._utils", "_rebuild_device_tensor_from_numpy"), "inside the pickle"));
    CHECK(contains(reason("torch._utils", "_rebuild_xla_tensor"), "inside the pickle"));
    CHECK(contains(told({{"ComplexDoubleStorage", "0", 1}, 0, {1}, {1}}), "complex128"));
    CHECK(contains(told({{"QUInt4x2Storage", "0", 16}, 0, {32}, {1}}), "share bytes"));
    CHECK(contains(told({{"Float3Storage", "0", 16}, 0, {1}, {1}}), "unknown storage class \"Float3Storage\""));
    for (const std::string flag : {"conj", "neg"}) {
        for (const bool is_set : {true, false}) {
            PickleWriter pickle;
            pickle.global("torch._utils", "_rebuild_tensor_v2").mark();
            write_storage(pickle, {}).integer(0).integers(Dims{4}).integers(Dims{1});
            write_grad_and_hooks(pickle).dict().text(flag).raw(is_set ? "\x88s" : "\x89s").tuple().call();
            CHECK(contains(told(pickle), is_set ? flag : "F32"));
        }
    }
}

TEST_CASE("a storage that is not there, too short or not one is refused") {
    const auto storage = [](const std::string& id, const StorageBytes& storages = one_storage()) {
        // The id is used by nothing: PyTorch would read the storage all the same.
        PickleWriter pickle;
        write_tensor(pickle.dict().text("w")).raw("s").raw(id).raw("0");
        return told(pickle, storages);
    };
    const auto id = [](const std::string& type, const std::string& key, std::int64_t elements) {
        PickleWriter pickle = PickleWriter::bare();
        return write_storage(pickle, {type, key, elements}).so_far();
    };
    CHECK(storage("N") == "F32 [4 ] at 0 of 16");
    CHECK(storage(id("FloatStorage", "1", 4)) == "MissingStorage");
    CHECK(storage(id("FloatStorage", "1", 4), {{"0", std::string(16, 's')}, {"1", "short"}}) == "StorageOutOfBounds");
    CHECK(storage(id("FloatStorage", "1", (std::int64_t{1} << 62) + 1), {{"0", std::string(16, 's')}, {"1", "long"}}) ==
          "StorageOutOfBounds");
    CHECK(contains(storage(id("FloatStorage", "1", -1)), "InvalidPickle"));
    CHECK(contains(storage(id("FloatTensor", "1", 1)), "class is none"));
    CHECK(contains(storage("K\1Q"), "InvalidPickle"));
    CHECK(contains(storage(")Q"), "InvalidPickle"));
    PickleWriter five = PickleWriter::bare(), kind = PickleWriter::bare();
    CHECK(contains(storage(write_storage(five, {}, true).so_far()), "other than 5 fields"));
    kind.mark().text("module").global("a", "b").none().none().tuple().raw("Q");
    CHECK(contains(storage(kind.so_far()), "of \"module\", not of a storage"));
    // The same key again is the same storage, whatever it says.
    CHECK(storage(id("DoubleStorage", "0", 99)) == "F32 [4 ] at 0 of 16");
}

TEST_CASE("a compressed storage leaves out its tensors alone") {
    PickleWriter pickle;
    pickle.dict().mark();
    write_tensor(pickle.text("a"));
    write_tensor(pickle.text("b"), {{"FloatStorage", "1", 4}, 0, {4}, {1}}).set_items();
    ZipMember deflated{"archive/data/1", std::string(9, 'z'), 8};
    deflated.inflated = 16;
    const Checkpoint checkpoint = read_bytes(
        zip_archive({{"archive/data.pkl", pickle.stop()}, {"archive/data/0", std::string(16, 's')}, deflated}));
    CHECK(names_of(checkpoint) == std::vector<std::string>{"a"});
    REQUIRE(checkpoint.left_out.size() == 1);
    CHECK(checkpoint.left_out[0].name == "b");
    CHECK(contains(checkpoint.left_out[0].why, "compressed"));
}
