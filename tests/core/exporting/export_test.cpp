#include "core/exporting/export.hpp"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/views/views.hpp"
#include "tests/core/exporting/exporting.hpp"
#include "tests/core/views/zip_reader.hpp"
#include "tests/support/contents.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// Two shards with metadata, empty tensors, and elements that do not lie as a loader wants them.
void write_model(const TemporaryFolder& folder) {
    write_file(folder / "in/1.safetensors", safetensors_file({{"odd", "U8", {5}, "12345"},
                                                              {"wide", "F32", {100, 3}, sample_bytes(1200, 1)},
                                                              {"z none", "I64", {0, 4}, ""}},
                                                             R"({"format":"pt","a\nb":"é"})"));
    write_file(folder / "in/2.safetensors", safetensors_file({{"a none", "F32", {0}, ""},
                                                              {"half", "F16", {300}, sample_bytes(600, 2)},
                                                              {"packed", "F4", {6}, "xyz"},
                                                              {"scalar", "F64", {}, sample_bytes(8, 3)}}));
}

ExportOptions options_for(std::string_view format) {
    ExportOptions options;
    options.format = export_format(format);
    return options;
}

void check_same_tensors(const Model& a, const Model& b) {
    REQUIRE(a.tensors().size() == b.tensors().size());
    for (const Tensor& tensor : a.tensors()) {
        INFO(tensor.name());
        const Tensor* const other = b.find(tensor.full_name());
        REQUIRE(other != nullptr);
        CHECK(bytes_of(raw_view(tensor), a.shards()) == bytes_of(raw_view(*other), b.shards()));
    }
}

}  // namespace

TEST_CASE("what is exported has the same tensors, and what is exported of that is the same file") {
    const TemporaryFolder folder;
    write_model(folder);
    const Model model = load(folder / "in");
    for (const std::string format : {"safetensors", "pytorch", "npz"}) {
        INFO(format);
        const std::string first = folder / ("1." + format);
        const std::string second = folder / ("2." + format);
        const Exported exported = export_all(model, first, options_for(format));
        CHECK(exported.nbytes == std::filesystem::file_size(first));
        CHECK(exported.overflows.empty());
        const Model once = load(first);
        check_same_tensors(model, once);
        export_all(once, second, options_for(format));
        CHECK(read_file(first) == read_file(second));
    }
    CHECK(listing(folder.path()) == "1.npz 1.pytorch 1.safetensors 2.npz 2.pytorch 2.safetensors in ");
}

TEST_CASE("a safetensors file is that of the mount, with its metadata") {
    const TemporaryFolder folder;
    write_model(folder);
    const Model model = load(folder / "in");
    export_all(model, folder / "out");
    CHECK(read_file(folder / "out") == bytes_of(merged_view(model).value(), model.shards()));
    export_all(model, folder / "f32", options_for("safetensors-f32"));
    CHECK(read_file(folder / "f32") == bytes_of(merged_view(model, Floats::widened).value(), model.shards()));
}

TEST_CASE("archives have the true checksum of each member") {
    const TemporaryFolder folder;
    // More than is read at once, and more than the mount's archive has checksums of.
    write_file(folder / "m.safetensors", safetensors_file({{"large", "U8", {1'000'003}, sample_bytes(1'000'003, 1)},
                                                           {"none", "U8", {0}, ""},
                                                           {"half", "F16", {3}, "abcdef"}}));
    const Model model = load(folder / "m.safetensors");
    for (const std::string format : {"pytorch", "npz"}) {
        for (const bool is_converted : {false, true}) {
            ExportOptions options = options_for(format);
            if (is_converted) options.floats = Dtype::F32;
            const std::string out = folder / (format + (is_converted ? "32" : ""));
            export_all(model, out, options);
            std::vector<Shard> shards;
            shards.emplace_back(out);
            Content content;
            content.add(Slice{0, 0, shards[0].size()});
            const ZipReader reader(content, shards);
            CHECK(reader.files().size() >= 3);
            for (const ZipReader::File& file : reader.files()) {
                INFO(file.name);
                CHECK(file.checksum == ZipReader::crc(reader.bytes(file)));
            }
        }
    }
}

TEST_CASE("floats are converted, and what becomes an infinity is told of by tensor") {
    const TemporaryFolder folder;
    const std::vector<float> numbers{1.5F, 1e30F, -1e30F, 65504.0F};
    std::string bytes(16, '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    write_file(folder / "m.safetensors", safetensors_file({{"fine", "F32", {4}, std::string(16, '\0')},
                                                           {"large", "F32", {4}, bytes},
                                                           {"whole", "I32", {4}, bytes}}));
    const Model model = load(folder / "m.safetensors");
    ExportOptions options;
    options.floats = Dtype::F16;
    const Exported exported = export_all(model, folder / "out.safetensors", options);
    REQUIRE(exported.overflows.size() == 1);
    CHECK(exported.overflows[0].tensor->name() == "large");
    CHECK(exported.overflows[0].elements == 2);
    const Model out = load(folder / "out.safetensors");
    CHECK(out.find("large")->dtype() == Dtype::F16);
    CHECK(out.find("whole")->dtype() == Dtype::I32);
    CHECK(bytes_of(raw_view(*out.find("large")), out.shards()) == std::string("\0\x3E\0\x7C\0\xFC\xFF\x7B", 8));
}

TEST_CASE("shards in a folder are one model again") {
    const TemporaryFolder folder;
    write_model(folder);
    const Model model = load(folder / "in");
    for (const std::string format : {"safetensors", "pytorch"}) {
        ExportOptions options = options_for(format);
        options.max_shard_size = 1000;
        export_all(model, folder / format, options);
        const Model out = load(folder / format);
        CHECK(out.shards().size() == 2);
        CHECK(out.notes().empty());  // such as a total_size that is not the sum
        check_same_tensors(model, out);
    }
    CHECK(listing(folder.path()) == "in pytorch safetensors ");
    CHECK(listing(folder / "safetensors") ==
          "model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json ");
}

TEST_CASE("the permissions of what is written are the umask's") {
    const TemporaryFolder folder;
    write_model(folder);
    const Model model = load(folder / "in");
    const mode_t before = ::umask(027);
    ExportOptions options;
    export_all(model, folder / "out", options);
    options.max_shard_size = 1000;
    export_all(model, folder / "shards", options);
    ::umask(before);
    const auto mode = [](const std::string& path) {
        struct stat found {};
        REQUIRE(::stat(path.c_str(), &found) == 0);
        return found.st_mode & 07777U;
    };
    CHECK(mode(folder / "out") == 0640);
    CHECK(mode(folder / "shards") == 0750);
    CHECK(mode(folder / "shards/model.safetensors.index.json") == 0640);
}

TEST_CASE("whatever ends an export early leaves nothing") {
    const TemporaryFolder folder;
    write_model(folder);
    const Model model = load(folder / "in");
    ExportOptions options;
    options.max_shard_size = 1000;
    for (const bool is_folder : {false, true}) {
        const ExportPlan plan = plan_all(model, is_folder ? options : ExportOptions{});
        std::uint64_t wrote = 0;
        const ExportWatch stop{[&](std::uint64_t nbytes) { wrote += nbytes; }, [&] { return wrote > 0; }};
        CHECK_THROWS_AS(export_model(model, plan, {folder / "out", false, {}}, stop), ExportStopped);
        CHECK(wrote > 0);
        CHECK(listing(folder.path()) == "in ");
    }
    SECTION("a shard was cut short") { std::filesystem::resize_file(folder / "in/2.safetensors", 300); }
    SECTION("a shard was written to") { std::ofstream(folder / "in/2.safetensors", std::ios::app) << "more"; }
    for (const std::string format : {"safetensors", "npz"}) {
        CHECK(kinds(problems_of([&] { export_all(model, folder / "out", options_for(format)); })) == "SystemError ");
        CHECK(listing(folder.path()) == "in ");
    }
}

TEST_CASE("names that an archive must not have are refused, all at once, before anything is written") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"../x", "U8", {1}, "1"},
                                                           {"/etc/passwd", "U8", {1}, "1"},
                                                           {"a\x1B[2J", "U8", {1}, "1"},
                                                           {"a", "U8", {1}, "1"},
                                                           {"a.npy", "U8", {1}, "1"},
                                                           {"good", "U8", {1}, "1"}}));
    const Model model = load(folder / "m.safetensors");
    CHECK(kinds(problems_of([&] { export_all(model, folder / "out", options_for("npz")); })) ==
          "InvalidArchive InvalidArchive InvalidArchive InvalidArchive ");
    CHECK(listing(folder.path()) == "m.safetensors ");
    export_all(model, folder / "out", options_for("pytorch"));  // whose members have no names of the source's
    check_same_tensors(model, load(folder / "out"));
}

TEST_CASE("a header that is too large is refused, and shards are not") {
    const TemporaryFolder folder;
    write_too_much_for_one_header(folder);
    const Model model = load(folder.path().string());
    const TemporaryFolder out;
    CHECK(contains(refusal_of([&] { export_all(model, out / "m"); }), "--max-shard-size"));
    CHECK(listing(out.path()).empty());
    ExportOptions options;
    options.max_shard_size = 1;
    export_all(model, out / "m", options);
    check_same_tensors(model, load(out / "m"));
}
