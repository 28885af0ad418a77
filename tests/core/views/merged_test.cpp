#include "core/views/merged.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "core/formats/safetensors/safetensors.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// What is written of a tensor, and its bytes.
struct Written {
    std::string dtype, shape, bytes;
    bool operator==(const Written&) const = default;
};

std::map<std::string, Written> all_of(const Model& model) {
    std::map<std::string, Written> all;
    for (const Tensor& tensor : model.tensors()) {
        const Written written{std::string(to_string(tensor.dtype())), to_string(tensor.shape()),
                              bytes_of(raw_view(tensor), model.shards())};
        REQUIRE(all.emplace(tensor.full_name(), written).second);
    }
    return all;
}

/// A model's file as it would be read from the mount.
std::string merged_file(const Model& model) {
    const std::optional<Content> content = merged_view(model);
    REQUIRE(content.has_value());
    const std::string bytes = bytes_of(*content, model.shards());
    REQUIRE(bytes.size() == content->size());
    const std::uint64_t header_size = number_of(bytes.substr(0, 8));
    REQUIRE(header_size == merged_header_size(model));
    REQUIRE(header_size % 8 == 0);
    REQUIRE(bytes.size() == 8 + header_size + model.nbytes());
    return bytes;
}

/// The model of that file alone.
struct Merged {
    TemporaryFolder folder;
    Model model;

    explicit Merged(const Model& source) : model(make(merged_file(source))) {}

    Model make(const std::string& bytes) const {
        write_file(folder / "merged.safetensors", bytes);
        return load(folder / "merged.safetensors");
    }
};

}  // namespace

TEST_CASE("a model of several shards is one file with the same tensors") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors",
               safetensors_file(
                   {{"z", "F32", {2, 3}, sample_bytes(24, 1)}, {"none", "I64", {0, 4}, ""}, {"a", "BF16", {}, "ab"}}));
    write_file(folder / "2.safetensors", safetensors_file({{"packed", "F4", {6}, "xyz"},
                                                           {"odd", "U8", {5}, "12345"},
                                                           {"six", "F6_E2M3", {2, 2}, "abc"},
                                                           {"also none", "BOOL", {0}, ""}}));
    const Model model = load(folder.path().string());
    const Merged merged(model);
    CHECK(all_of(merged.model) == all_of(model));
    CHECK(merged.model.tensors().size() == 7);
    CHECK(merged.model.metadata()[0].empty());
}

TEST_CASE("a merged file keeps the order of the shards' tensors") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({{"z", "U8", {1}, "1"}, {"b", "U8", {1}, "2"}}));
    write_file(folder / "2.safetensors", safetensors_file({{"y", "U8", {1}, "3"}, {"a", "U8", {1}, "4"}}));
    const std::string bytes = merged_file(load(folder.path().string()));
    CHECK(bytes.substr(bytes.size() - 4) == "1234");
}

TEST_CASE("a merged file is the same bytes each time, with a header without spaces but at its end") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a", "U8", {2, 1}, "xy"}}, R"({"k":"v"})"));
    const std::string header = R"({"__metadata__":{"k":"v"},"a":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]}})";
    const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
    const Model model = load(folder / "m.safetensors");
    CHECK(merged_file(model) == safetensors_file(padded, "xy"));
    CHECK(merged_file(model) == merged_file(load(folder / "m.safetensors")));
}

TEST_CASE("the header of a merged file is padded to eight bytes, whatever its length") {
    const TemporaryFolder folder;
    for (std::size_t length = 0; length < 20; ++length) {
        write_file(folder / "m.safetensors", safetensors_file({{std::string(length, 'n'), "U8", {1}, "x"}}));
        const Model model = load(folder / "m.safetensors");
        CHECK(all_of(Merged(model).model) == all_of(model));
    }
}

TEST_CASE("the shards' metadata become one, in which a key's first value counts") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file(std::vector<Sample>{}, R"({"format":"pt","x":"1"})"));
    write_file(folder / "2.safetensors", safetensors_file({{"a", "U8", {1}, "a"}}, R"({"y":"\"\u0000é","x":"2"})"));
    write_file(folder / "3.safetensors", safetensors_file({{"b", "U8", {1}, "b"}}, R"({"y":"3","":"empty"})"));
    write_file(folder / "4.safetensors", safetensors_file({{"c", "U8", {1}, "c"}}));
    const Merged merged(load(folder.path().string()));
    CHECK(merged.model.metadata()[0] ==
          Metadata{{"format", "pt"}, {"x", "1"}, {"y", std::string("\"\0\u00e9", 4)}, {"", "empty"}});
    CHECK(merged.model.tensors().size() == 3);
}

TEST_CASE("names of any characters are the same in a merged file") {
    const TemporaryFolder folder;
    const std::vector<std::string> names{"",
                                         "\"",
                                         "\\",
                                         "\\\"\\u0041",
                                         std::string("\0a\0", 3),
                                         "\n\r\t\b\f\x01\x1F\x7F",
                                         "\u00e9\u20AC\U0001F917\uFFFF\U0010FFFF",
                                         "e\u0301",
                                         "\u2028\u202E\u0085",
                                         "{\"dtype\":\"F32\"}",
                                         "__metadata__ ",
                                         "/../..",
                                         std::string(5000, 'n')};
    std::vector<Sample> samples;
    for (const std::string& name : names) samples.push_back({name, "U8", {3}, sample_bytes(3, samples.size())});
    write_file(folder / "m.safetensors", safetensors_file(samples));
    const Model model = load(folder / "m.safetensors");
    const std::map<std::string, Written> all = all_of(Merged(model).model);
    CHECK(all == all_of(model));
    for (const std::string& name : names) CHECK(all.count(name) == 1);
    // As the reference writes it, they take no more room than they need.
    const std::string bytes = merged_file(model);
    CHECK(contains(std::string_view(bytes).substr(8, merged_header_size(model)), "\u20AC\U0001F917"));
}

TEST_CASE("a pipeline's tensors have their full names in a merged file") {
    const TemporaryFolder folder;
    write_file(folder / "model_index.json", "{}");
    write_file(folder / "unet/model.safetensors", safetensors_file({{"w", "U8", {1}, "u"}}, R"({"format":"pt"})"));
    write_file(folder / "text.encoder/model.safetensors", safetensors_file({{"w", "U8", {1}, "t"}}));
    const Model model = load(folder.path().string());
    const std::map<std::string, Written> all = all_of(Merged(model).model);
    CHECK(all ==
          std::map<std::string, Written>{{"text.encoder/w", {"U8", "[1]", "t"}}, {"unet/w", {"U8", "[1]", "u"}}});
}

TEST_CASE("components whose folders' names are not UTF-8 leave a merged file readable") {
    const TemporaryFolder folder;
    write_file(folder / "model_index.json", "{}");
    write_file(folder / "\xFF/model.safetensors", safetensors_file({{"w", "U8", {1}, "1"}}));
    write_file(folder / "\xFE\u00e9/model.safetensors", safetensors_file({{"w", "U8", {1}, "2"}}));
    write_file(folder / "\xFD%/model.safetensors", safetensors_file({{"w%", "U8", {1}, "3"}}));
    const Merged merged(load(folder.path().string()));
    REQUIRE(merged.model.tensors().size() == 3);
    const std::map<std::string, Written> all = all_of(merged.model);
    CHECK(all.at("%FF/w").bytes == "1");
    CHECK(all.at("%FE\u00e9/w").bytes == "2");
    CHECK(all.at("%FD%25/w%").bytes == "3");
}

TEST_CASE("a merged file is read in about as many pieces as there are shards") {
    const TemporaryFolder folder;
    std::vector<std::pair<std::string, std::string>> weight_map;
    for (const std::string shard : {"1", "2", "3"}) {
        std::vector<Sample> samples;
        for (int i = 0; i < 50; ++i) {
            samples.push_back({shard + "." + std::to_string(i), "U8", {10}, sample_bytes(10, 1)});
            samples.push_back({shard + ".none." + std::to_string(i), "U8", {0}, ""});
            if (i != 25) weight_map.emplace_back(samples[samples.size() - 2].name, shard + ".safetensors");
        }
        write_file(folder / (shard + ".safetensors"), safetensors_file(samples));
    }
    const Model model = load(folder.path().string());
    CHECK(model.tensors().size() == 300);
    CHECK(merged_view(model).value().segments() == 1 + 3);

    write_file(folder / "model.safetensors.index.json", index_file(weight_map));
    const Model listed = load(folder.path().string());
    CHECK(listed.tensors().size() == 147);
    CHECK(merged_view(listed).value().segments() == 1 + 6);  // a tensor is left out within each shard
    CHECK(all_of(Merged(listed).model) == all_of(listed));
}

TEST_CASE("a model without tensors is a file with an empty header") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file("{}", ""));
    CHECK(merged_file(load(folder / "m.safetensors")) == safetensors_file("{}      ", ""));
    write_file(folder / "m.safetensors", safetensors_file(std::vector<Sample>{}, R"({"k":"v"})"));
    const Merged merged(load(folder / "m.safetensors"));
    CHECK(merged.model.tensors().empty());
    CHECK(merged.model.metadata()[0] == Metadata{{"k", "v"}});
}

TEST_CASE("a merged file may be merged again, and stays as it is") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({{"a", "U8", {1}, "a"}}, R"({"format":"pt"})"));
    write_file(folder / "2.safetensors", safetensors_file({{"b\u00e9", "F16", {1}, "bb"}}, R"({"x":"y"})"));
    const Model model = load(folder.path().string());
    const Merged once(model);
    CHECK(merged_file(once.model) == merged_file(model));
}

TEST_CASE("where the header of a merged file would be larger than the format allows, there is none", "[thorough]") {
    const TemporaryFolder folder;
    write_too_much_for_one_header(folder);
    CHECK_FALSE(merged_view(Model::load(find_source(folder.path().string()))).has_value());
}
