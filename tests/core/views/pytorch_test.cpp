#include "core/views/pytorch.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "core/views/views.hpp"
#include "tests/core/views/zip_reader.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

using Json = nlohmann::json;

namespace {

/// Reads a pickle by what Python's pickletools says of the opcodes, and just those that a checkpoint
/// needs. Tuples are arrays, None of the rest is ambiguous: {"global": "module.name"}, {"call": …,
/// "with": …}, {"persistent": …}; a dict is an array of pairs, so that its order is seen. Throws
/// std::runtime_error.
class Unpickler {
public:
    explicit Unpickler(std::string text) : text_(std::move(text)) {}

    Json read() {
        if (take(2) != "\x80\x02") throw std::runtime_error("no pickle of protocol 2");
        for (;;) {
            const char code = take(1)[0];
            if (code == '.') break;
            step(code);
        }
        if (at_ != text_.size()) throw std::runtime_error("something follows the pickle");
        if (stack_.size() != 1 || !marks_.empty()) throw std::runtime_error("something is left on the stack");
        return stack_[0];
    }

private:
    void step(char code) {
        switch (code) {
            case '}': stack_.emplace_back(Json::array()); break;
            case ')': stack_.emplace_back(Json::array()); break;
            case '(': marks_.push_back(stack_.size()); break;
            case '\x89': stack_.emplace_back(false); break;
            case 'K': stack_.emplace_back(number_of(take(1))); break;
            case 'M': stack_.emplace_back(number_of(take(2))); break;
            case 'J': stack_.emplace_back(static_cast<std::int32_t>(number_of(take(4)))); break;
            case '\x8a': stack_.push_back(long_integer(take(number_of(take(1))))); break;
            case 'X': stack_.emplace_back(take(number_of(take(4)))); break;
            case 'c': {
                const std::string module = line();
                stack_.push_back({{"global", module + "." + line()}});
                break;
            }
            case 'q': memo_[number_of(take(1))] = stack_.at(stack_.size() - 1); break;
            case 'h': stack_.push_back(memo_.at(number_of(take(1)))); break;
            case 't': {
                const std::vector<Json> items = since_mark();
                stack_.emplace_back(items);
                break;
            }
            case 'Q': stack_.push_back({{"persistent", pop()}}); break;
            case 'R': {
                const Json arguments = pop();
                const Json called = pop();
                stack_.push_back({{"call", called}, {"with", arguments}});
                break;
            }
            case 'u': {
                const std::vector<Json> items = since_mark();
                if (items.size() % 2 != 0) throw std::runtime_error("a key without a value");
                for (std::size_t i = 0; i < items.size(); i += 2)
                    stack_.at(stack_.size() - 1).push_back({items[i], items[i + 1]});
                break;
            }
            default: throw std::runtime_error("opcode " + std::to_string(static_cast<unsigned char>(code)));
        }
    }

    std::string take(std::size_t size) {
        if (text_.size() - at_ < size) throw std::runtime_error("the pickle ends early");
        at_ += size;
        return text_.substr(at_ - size, size);
    }
    std::string line() {
        std::string all;
        for (std::string next = take(1); next != "\n"; next = take(1)) all += next;
        return all;
    }
    Json pop() {
        if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size()))
            throw std::runtime_error("nothing is on the stack");
        Json top = std::move(stack_.back());
        stack_.pop_back();
        return top;
    }
    std::vector<Json> since_mark() {
        if (marks_.empty()) throw std::runtime_error("there is no mark");
        const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
        std::vector<Json> items(from, stack_.end());
        stack_.erase(from, stack_.end());
        marks_.pop_back();
        return items;
    }
    /// Two's complement, of any length.
    static Json long_integer(std::string bytes) {
        if (!bytes.empty() && (bytes.back() & 0x80) != 0) throw std::runtime_error("a negative integer");
        while (bytes.size() > 8) {
            if (bytes.back() != '\0') throw std::runtime_error("an integer of more than 64 bits");
            bytes.pop_back();
        }
        return number_of(bytes);
    }

    std::string text_;
    std::size_t at_ = 0;
    std::vector<Json> stack_;
    std::vector<std::size_t> marks_;
    std::map<std::uint64_t, Json> memo_;
};

/// What a checkpoint says of a tensor.
struct Entry {
    std::string storage_class, key, device;
    std::uint64_t elements = 0;
    std::vector<std::uint64_t> shape, strides;
};

/// A checkpoint, read back.
struct Checkpoint {
    std::vector<std::string> names;  // in order
    std::map<std::string, Entry> entries;
    std::map<std::string, std::string> bytes;  // by key

    explicit Checkpoint(const Model& model) {
        const Content content = pytorch_view(model);
        const ZipReader zip(content, model.shards());
        for (const ZipReader::File& file : zip.files()) {
            if (file.name.starts_with("pytorch_model/data/")) bytes[file.name.substr(19)] = zip.bytes(file);
        }
        CHECK(zip.files().at(0).name == "pytorch_model/data.pkl");
        CHECK(zip.bytes(zip.file("pytorch_model/byteorder")) == "little");
        CHECK(zip.bytes(zip.file("pytorch_model/version")) == "3\n");
        CHECK(zip.files().size() == bytes.size() + 3);
        for (const Json& item : Unpickler(zip.bytes(zip.files()[0])).read()) add(item.at(0), item.at(1));
    }

    void add(const std::string& name, const Json& value) {
        CHECK(value.at("call").at("global") == "torch._utils._rebuild_tensor_v2");
        const Json& arguments = value.at("with");
        REQUIRE(arguments.size() == 6);
        const Json& storage = arguments[0].at("persistent");
        REQUIRE(storage.size() == 5);
        CHECK(storage[0] == "storage");
        CHECK(arguments[1] == 0);
        CHECK(arguments[4] == false);
        CHECK(arguments[5] == Json{{"call", {{"global", "collections.OrderedDict"}}}, {"with", Json::array()}});
        names.push_back(name);
        const bool is_new = entries
                                .emplace(name, Entry{storage[1].at("global"), storage[2], storage[3], storage[4],
                                                     arguments[2], arguments[3]})
                                .second;
        CHECK(is_new);
    }
};

using Dims = std::vector<std::uint64_t>;

/// The entry of the only tensor of a model.
Entry entry_for(const std::string& dtype, const Dims& shape, const std::string& bytes) {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"t", dtype, shape, bytes}}));
    return Checkpoint(load(folder / "m.safetensors")).entries.at("t");
}

}  // namespace

TEST_CASE("the pickle of a checkpoint is what PyTorch's would be, byte by byte") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors",
               safetensors_file({{"a", "F32", {2, 1}, "12345678"}, {"b", "I64", {}, "12345678"}}));
    const Model model = load(folder / "m.safetensors");
    const Content content = pytorch_view(model);
    const ZipReader zip(content, model.shards());
    const std::string expected = std::string("\x80\x02}(") +                                         //
                                 std::string("X\1\0\0\0a", 6) +                                      //
                                 std::string("ctorch._utils\n_rebuild_tensor_v2\nq\0", 35) + "((" +  //
                                 std::string("X\7\0\0\0storageq\1", 14) +                            //
                                 "ctorch\nFloatStorage\nq\2" +                                       //
                                 std::string(
                                     "X\1\0\0\0"
                                     "0",
                                     6) +                              //
                                 std::string("X\3\0\0\0cpuq\3", 10) +  //
                                 "K\2tQ" +
                                 std::string("K\0", 2) + "(K\2K\1t(K\1K\1t\x89" +           //
                                 "ccollections\nOrderedDict\nq\4)RtR" +                     //
                                 std::string("X\1\0\0\0b", 6) +                             //
                                 std::string("h\0((h\1", 6) + "ctorch\nLongStorage\nq\5" +  //
                                 std::string(
                                     "X\1\0\0\0"
                                     "1",
                                     6) +
                                 "h\3" +  //
                                 "K\1tQ" + std::string("K\0", 2) + "(t(t\x89h\4)RtR" + "u.";
    CHECK(zip.bytes(zip.file("pytorch_model/data.pkl")) == expected);
}

TEST_CASE("a checkpoint has every tensor by its full name, with its bytes in a storage of its own") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({{"z", "F32", {2, 3}, sample_bytes(24, 1)},
                                                           {"none", "I64", {0, 4}, ""},
                                                           {"a.\u00e9\n\"", "BF16", {}, "ab"}}));
    write_file(folder / "2.safetensors", safetensors_file({{"", "F4", {6}, "xyz"}, {"odd", "U8", {5}, "12345"}}));
    const Model model = load(folder.path().string());
    const Checkpoint checkpoint(model);
    REQUIRE(checkpoint.names.size() == model.tensors().size());
    for (std::size_t i = 0; i < model.tensors().size(); ++i) {
        const Tensor& tensor = model.tensors()[i];
        INFO(tensor.name());
        CHECK(checkpoint.names[i] == tensor.full_name());
        const Entry& entry = checkpoint.entries.at(checkpoint.names[i]);
        CHECK(entry.key == std::to_string(i));
        CHECK(entry.device == "cpu");
        CHECK(checkpoint.bytes.at(entry.key) == bytes_of(raw_view(tensor), model.shards()));
    }
    CHECK(checkpoint.bytes.size() == model.tensors().size());
}

TEST_CASE("each type has a storage of its width that every PyTorch has") {
    const std::vector<std::pair<std::string, std::string>> classes{
        {"BOOL", "Bool"},    {"U8", "Byte"},      {"I8", "Char"},          {"F8_E5M2", "Byte"},
        {"F8_E4M3", "Byte"}, {"F8_E8M0", "Byte"}, {"F8_E4M3FNUZ", "Byte"}, {"F8_E5M2FNUZ", "Byte"},
        {"I16", "Short"},    {"U16", "Short"},    {"F16", "Half"},         {"BF16", "BFloat16"},
        {"I32", "Int"},      {"U32", "Int"},      {"F32", "Float"},        {"C64", "ComplexFloat"},
        {"F64", "Double"},   {"I64", "Long"},     {"U64", "Long"},         {"F4", "Byte"},
        {"F6_E2M3", "Byte"}, {"F6_E3M2", "Byte"}};
    REQUIRE(classes.size() == plain_dtype_count);
    for (const auto& [dtype, name] : classes) {
        INFO(dtype);
        const std::uint64_t nbytes = nbytes_of(parse_dtype(dtype).value(), 8).value();
        const Entry entry = entry_for(dtype, {2, 4}, sample_bytes(nbytes, 1));
        CHECK(entry.storage_class == "torch." + name + "Storage");
        if (nbytes < 8) {  // several elements in a byte: the bytes of each row
            CHECK(entry.elements == nbytes);
            CHECK(entry.shape == Dims{2, nbytes / 2});
            CHECK(entry.strides == Dims{nbytes / 2, 1});
        } else {
            CHECK(entry.elements == 8);
            CHECK(entry.shape == Dims{2, 4});
            CHECK(entry.strides == Dims{4, 1});
        }
    }
}

TEST_CASE("strides are those of C order, in which a dimension of 0 counts as 1") {
    const auto strides = [](const Dims& shape, const std::string& bytes = "") {
        const Entry entry = entry_for("U8", shape, bytes);
        CHECK(entry.shape == shape);
        CHECK(entry.elements == bytes.size());
        return entry.strides;
    };
    CHECK(strides({}, "x").empty());
    CHECK(strides({1}, "x") == Dims{1});
    CHECK(strides({2, 3, 4}, sample_bytes(24, 1)) == Dims{12, 4, 1});
    CHECK(strides({0}) == Dims{1});
    CHECK(strides({0, 5}) == Dims{5, 1});
    CHECK(strides({5, 0}) == Dims{1, 1});
    CHECK(strides({2, 0, 3, 0, 4}) == Dims{12, 12, 4, 4, 1});
    CHECK(strides({300, 70000, 0, 256}) == Dims{70000 * 256, 256, 256, 1});
    CHECK(strides(Dims(100, 1), "x") == Dims(100, 1));
}

TEST_CASE("integers of every size are read as what they are") {
    for (const std::uint64_t value :
         {std::uint64_t{1}, std::uint64_t{0xFF}, std::uint64_t{0x100}, std::uint64_t{0xFFFF}, std::uint64_t{0x10000},
          std::uint64_t{0x7FFFFFFF}, std::uint64_t{0x80000000}, std::uint64_t{0xFFFFFFFF}, std::uint64_t{1} << 32,
          std::uint64_t{1} << 62, std::uint64_t{INT64_MAX}}) {
        const Entry entry = entry_for("U8", {0, value}, "");
        CHECK(entry.shape == Dims{0, value});
        CHECK(entry.strides == Dims{value, 1});
    }
    CHECK(entry_for("U8", {0, UINT64_MAX}, "").shape == Dims{0, UINT64_MAX});
}

TEST_CASE("no stride is larger than PyTorch's integers, however large the dimensions beside a 0") {
    for (const Dims& shape : {Dims{0, std::uint64_t{1} << 62, 2}, Dims{0, std::uint64_t{1} << 62, 4, 3},
                              Dims{0, 3, std::uint64_t{1} << 62, 4}, Dims{0, std::uint64_t{1} << 32, 1U << 31, 1},
                              Dims{0, 1, UINT64_MAX}}) {
        for (const std::uint64_t stride : entry_for("U8", shape, "").strides) CHECK(stride <= INT64_MAX);
    }
}

TEST_CASE("a pipeline's tensors have their full names in a checkpoint") {
    const TemporaryFolder folder;
    write_file(folder / "model_index.json", "{}");
    write_file(folder / "unet/model.safetensors", safetensors_file({{"w", "U8", {1}, "u"}}));
    write_file(folder / "vae/model.safetensors", safetensors_file({{"w", "U8", {1}, "v"}}));
    const Checkpoint checkpoint(load(folder.path().string()));
    CHECK(checkpoint.names == std::vector<std::string>{"unet/w", "vae/w"});
    CHECK(checkpoint.bytes == std::map<std::string, std::string>{{"0", "u"}, {"1", "v"}});
}

TEST_CASE("components whose folders' names are not UTF-8 leave a checkpoint's names UTF-8") {
    const TemporaryFolder folder;
    write_file(folder / "model_index.json", "{}");
    write_file(folder / "\xFF/model.safetensors", safetensors_file({{"w", "U8", {1}, "1"}}));
    write_file(folder / "\xFE\u00e9/model.safetensors", safetensors_file({{"w", "U8", {1}, "2"}}));
    const Checkpoint checkpoint(load(folder.path().string()));
    CHECK(checkpoint.entries.size() == 2);
    for (const std::string& name : checkpoint.names) CHECK_NOTHROW(Json(name).dump());  // which throws if not
}

TEST_CASE("a checkpoint of a model without tensors is an empty dict") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file("{}", ""));
    const Checkpoint checkpoint(load(folder / "m.safetensors"));
    CHECK(checkpoint.names.empty());
    CHECK(checkpoint.bytes.empty());
}

TEST_CASE("a checkpoint of very many tensors is read as one of few") {
    const TemporaryFolder folder;
    std::vector<Sample> samples;
    for (int i = 0; i < 3000; ++i) samples.push_back({"t." + std::to_string(i), i % 2 == 0 ? "U8" : "I8", {1}, "x"});
    write_file(folder / "m.safetensors", safetensors_file(samples));
    const Checkpoint checkpoint(load(folder / "m.safetensors"));
    CHECK(checkpoint.entries.size() == 3000);
    CHECK(checkpoint.entries.at("t.2999").key == "2999");
    CHECK(checkpoint.entries.at("t.2999").storage_class == "torch.CharStorage");
}
