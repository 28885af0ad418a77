#include "fs/volume/xattr.hpp"

#include <algorithm>
#include <set>

#include "core/views/listings.hpp"
#include "tests/core/formats/gguf/gguf_file.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

using Names = std::set<std::string>;

/// A node's attributes' names, each of which must have a value but for the one that changes.
Names names_of(const Volume& volume, const Node& node) {
    const std::string list = xattr_names(volume, node);
    Names names;
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t end = list.find('\0', begin);
        REQUIRE(end != std::string::npos);
        const std::string name = list.substr(begin, end - begin);
        CHECK(names.insert(name).second);
        if (name != stats_attribute) CHECK(xattr(volume, node, name).has_value());
        begin = end + 1;
    }
    return names;
}

/// A volume of the files in `folder`.
Volume volume_of(const TemporaryFolder& folder) { return Volume(load(folder.path().string()), "./"); }

Node at(const Volume& volume, const std::vector<std::string>& path) {
    Node node = volume.node(Inode{}).value();
    for (const std::string& name : path) node = volume.lookup(node.inode, name).value();
    return node;
}

}  // namespace

TEST_CASE("a tensor's file tells dtype, name, bytes, offset, shape and shard") {
    const TemporaryFolder folder;
    const std::string file = safetensors_file({{"a", "U8", {5}, "01234"}, {"x.\n", "BF16", {2, 1}, "abcd"}});
    write_file(folder / "m.safetensors", file);
    const Volume volume = volume_of(folder);
    const Node node = at(volume, {"x", "%0A"});
    CHECK(names_of(volume, node) == Names{"user.tensor.dtype", "user.tensor.name", "user.tensor.nbytes",
                                          "user.tensor.offset", "user.tensor.shape", "user.tensor.shard"});
    CHECK(xattr(volume, node, "user.tensor.dtype") == "BF16");
    CHECK(xattr(volume, node, "user.tensor.name") == "x.\n");
    CHECK(xattr(volume, node, "user.tensor.nbytes") == "4");
    CHECK(xattr(volume, node, "user.tensor.offset") == std::to_string(file.size() - 4));
    CHECK(xattr(volume, node, "user.tensor.shape") == "[2,1]");
    CHECK(xattr(volume, node, "user.tensor.shard") == folder / "m.safetensors");
}

TEST_CASE("the flat folder's files tell the same as the tree's") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a.b", "U8", {5}, "01234"}}));
    const Volume volume = volume_of(folder);
    const Node tree = at(volume, {"a", "b"});
    const Node flat = at(volume, {".tensorfs", "flat", "a.b"});
    CHECK(names_of(volume, flat) == names_of(volume, tree));
    for (const std::string& name : names_of(volume, tree))
        CHECK(xattr(volume, flat, name) == xattr(volume, tree, name));
}

TEST_CASE("a folder sums the tensors below it") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors",
               safetensors_file({{"a.b.c", "F32", {2}, "01234567"}, {"a.d", "F4", {4}, "xy"}}));
    const Volume volume = volume_of(folder);
    const Node node = at(volume, {"a"});
    CHECK(names_of(volume, node) == Names{"user.tensor.count", "user.tensor.nbytes", "user.tensor.parameters"});
    CHECK(xattr(volume, node, "user.tensor.count") == "2");
    CHECK(xattr(volume, node, "user.tensor.nbytes") == "10");
    CHECK(xattr(volume, node, "user.tensor.parameters") == "6");
    CHECK(xattr(volume, at(volume, {"a", "b"}), "user.tensor.count") == "1");
}

TEST_CASE("the root tells of the whole model") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors",
               safetensors_file({{"a", "F32", {2}, "01234567"}}, R"({"format":"pt","k":"1"})"));
    write_file(folder / "2.safetensors", safetensors_file({{"b", "U8", {3}, "xyz"}}, R"({"k":"2","z":""})"));
    const Volume volume = volume_of(folder);
    const Node root = at(volume, {});
    CHECK(names_of(volume, root) ==
          Names{"user.model.format", "user.model.nbytes", "user.model.parameters", "user.model.shards",
                "user.model.source", "user.model.tensors", "user.model.metadata.format", "user.model.metadata.k",
                "user.model.metadata.z", "user.tensor.count", "user.tensor.nbytes", "user.tensor.parameters"});
    CHECK(xattr(volume, root, "user.model.nbytes") == "11");
    CHECK(xattr(volume, root, "user.model.parameters") == "5");
    CHECK(xattr(volume, root, "user.model.shards") == "2");
    CHECK(xattr(volume, root, "user.model.source") == folder.path().string());
    CHECK(xattr(volume, root, "user.model.tensors") == "2");
    CHECK(xattr(volume, root, "user.tensor.count") == "2");
    CHECK(xattr(volume, root, "user.model.metadata.format") == "pt");
    CHECK(xattr(volume, root, "user.model.metadata.k") == "1");  // the first shard that has it
    CHECK(xattr(volume, root, "user.model.metadata.z") == "");
}

TEST_CASE("a key of metadata is escaped as a file name is, and its value is not") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors",
               safetensors_file(std::vector<Sample>{}, R"({"a/b%\u0000\n":"\u0000v\n","é":"x"})"));
    const Volume volume = volume_of(folder);
    const Node root = at(volume, {});
    CHECK(xattr(volume, root, "user.model.metadata.a%2Fb%25%00%0A") == std::string("\0v\n", 3));
    CHECK(xattr(volume, root, "user.model.metadata.é") == "x");
    CHECK(names_of(volume, root).contains("user.model.metadata.a%2Fb%25%00%0A"));
}

TEST_CASE("a key too long for an attribute's name is left out") {
    const TemporaryFolder folder;
    const std::string prefix = "user.model.metadata.";
    const std::string fits(255 - prefix.size(), 'k');
    write_file(folder / "m.safetensors",
               safetensors_file(std::vector<Sample>{}, "{\"" + fits + "\":\"1\",\"" + fits + "k\":\"2\",\"\":\"3\"}"));
    const Volume volume = volume_of(folder);
    const Node root = at(volume, {});
    const Names names = names_of(volume, root);
    CHECK(names.contains(prefix + fits));
    CHECK_FALSE(names.contains(prefix + fits + "k"));
    CHECK_FALSE(names.contains(prefix));
}

TEST_CASE("however many keys there are, the list stays in what Linux takes") {
    const TemporaryFolder folder;
    std::string metadata = "{\"\":\"\"";
    for (int i = 0; i < 5000; ++i) metadata += ",\"a.key.of.some.length." + std::to_string(i) + "\":\"v\"";
    write_file(folder / "m.safetensors", safetensors_file(std::vector<Sample>{}, metadata + "}"));
    const Volume volume = volume_of(folder);
    const std::string list = xattr_names(volume, at(volume, {}));
    CHECK(list.size() <= 65536);
    CHECK(list.size() > 60000);
    CHECK(list.back() == '\0');
    CHECK(contains(list, std::string("user.model.tensors\0", 19)));
}

TEST_CASE("a node has no attribute but its own") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a.b", "U8", {1}, "x"}}, R"({"k":"v"})"));
    const Volume volume = volume_of(folder);
    for (const char* name : {"", "user", "user.tensor", "user.tensor.", "user.tensor.DTYPE", "user.tensor.dtype ",
                             "security.selinux", "system.posix_acl_access", "trusted.x", "user.model.metadata",
                             "user.model.metadata.", "user.model.metadata.x"}) {
        INFO(name);
        for (const auto& path : std::vector<std::vector<std::string>>{{}, {"a"}, {"a", "b"}, {".tensorfs"}}) {
            CHECK_FALSE(xattr(volume, at(volume, path), name).has_value());
        }
    }
    CHECK_FALSE(xattr(volume, at(volume, {"a"}), "user.model.tensors").has_value());
    CHECK_FALSE(xattr(volume, at(volume, {"a"}), "user.model.metadata.k").has_value());
    CHECK_FALSE(xattr(volume, at(volume, {"a"}), "user.tensor.dtype").has_value());
    CHECK_FALSE(xattr(volume, at(volume, {"a", "b"}), "user.tensor.count").has_value());
    CHECK(xattr_names(volume, at(volume, {".tensorfs", "tensors.json"})).empty());
}

TEST_CASE("a long value is not listed, and a longer one is not there; metadata.json has all") {
    const TemporaryFolder folder;
    const auto text = [](std::size_t size) { return std::string(size, 'x'); };
    write_file(folder / "m.safetensors",
               safetensors_file({{"a", "U8", {1}, "x"}}, R"({"short":")" + text(2048) + R"(","long":")" + text(2049) +
                                                             R"(","longest":")" + text(65536) + R"(","beyond":")" +
                                                             text(65537) + R"("})"));
    const Volume volume = volume_of(folder);
    const Node root = at(volume, {});
    const Names names = names_of(volume, root);
    const auto is_listed = [&](const std::string& name) {
        return std::count(names.begin(), names.end(), "user.model.metadata." + name) == 1;
    };
    CHECK(is_listed("short"));
    CHECK_FALSE(is_listed("long"));
    CHECK_FALSE(is_listed("longest"));
    CHECK_FALSE(is_listed("beyond"));
    CHECK(xattr(volume, root, "user.model.metadata.short") == text(2048));
    CHECK(xattr(volume, root, "user.model.metadata.long") == text(2049));
    CHECK(xattr(volume, root, "user.model.metadata.longest") == text(65536));
    CHECK_FALSE(xattr(volume, root, "user.model.metadata.beyond").has_value());
    CHECK(contains(metadata_json(volume.model()), text(65537)));
    CHECK(xattr(volume, root, "user.model.format") == "safetensors");
}

TEST_CASE("a GGUF file's short metadata are attributes: as text, and none of an array or a long text") {
    const TemporaryFolder folder;
    const std::string path = folder / "m.gguf";
    write_file(path, GgufFile()
                         .key("general.architecture", gguf_str, gguf_string("llama"))
                         .key("llama.context_length", gguf_u32, little_endian(131072, 4))
                         .key("llama.rope.scale", gguf_f32, little_endian(0x3DCCCCCD, 4))
                         .key("tokenizer.ggml.add_bos_token", gguf_bool, "\x01")
                         .key("tokenizer.ggml.tokens", gguf_arr, gguf_array(gguf_str, 1, gguf_string("a")))
                         .key("tokenizer.chat_template", gguf_str, gguf_string(std::string(65537, 't')))
                         .tensor("blk.0.attn_q.weight", {32, 2}, gguf_tensor_q4_0, 0)
                         .bytes(std::string(36, 'x')));
    const Volume volume(load(path), "./");
    const Node root = at(volume, {});
    const std::string prefix = "user.model.metadata.";
    CHECK(xattr(volume, root, "user.model.format") == "gguf");
    CHECK(xattr(volume, root, "user.model.parameters") == "64");
    CHECK(xattr(volume, root, prefix + "general.architecture") == "llama");
    CHECK(xattr(volume, root, prefix + "llama.context_length") == "131072");
    CHECK(xattr(volume, root, prefix + "llama.rope.scale") == "0.1");
    CHECK(xattr(volume, root, prefix + "tokenizer.ggml.add_bos_token") == "true");
    const Names names = names_of(volume, root);
    CHECK(names.contains(prefix + "general.architecture"));
    CHECK_FALSE(names.contains(prefix + "tokenizer.ggml.tokens"));
    CHECK_FALSE(names.contains(prefix + "tokenizer.chat_template"));
    CHECK_FALSE(xattr(volume, root, prefix + "tokenizer.ggml.tokens").has_value());
    const Node tensor = at(volume, {"blk", "0", "attn_q", "weight"});
    CHECK(xattr(volume, tensor, "user.tensor.dtype") == "Q4_0");
    CHECK(xattr(volume, tensor, "user.tensor.shape") == "[2,32]");
    CHECK(xattr(volume, tensor, "user.tensor.nbytes") == "36");
}
