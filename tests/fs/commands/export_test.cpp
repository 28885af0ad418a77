// `tensorfs export` as it is typed; what other programs make of its files: tests/consumers/export_test.py.

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs::tests;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Files {
    TemporaryFolder folder;
    std::string in = folder / "in.safetensors";
    std::string out = folder / "out";

    Files() {
        write_file(in, safetensors_file({{"a.norm", "F32", {2}, std::string("\0\0\x80\x3F\xF0\x23\x74\x49", 8)},
                                         {"a.weight", "BF16", {2}, "1234"},
                                         {"b.weight", "I8", {3}, "123"}},
                                        R"({"format":"np"})"));
    }

    Outcome run(std::vector<std::string> more) const {
        more.insert(more.begin(), {"export", in});
        return run_program(more);
    }
    /// The names of the tensors in the output.
    std::string names() const {
        std::string all;
        for (const std::string& name : lines_of(run_program({"ls", "--names", out}).out)) all += name + ' ';
        return all;
    }
};

}  // namespace

TEST_CASE("export says nothing if all is well, and what it wrote is verified and the same") {
    const Files files;
    const Outcome outcome = files.run({"-o", files.out});
    CHECK(outcome.code == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.empty());
    CHECK(run_program({"verify", files.out}).code == 0);
    CHECK(run_program({"diff", files.in, files.out}).code == 0);
}

TEST_CASE("export takes patterns, and one that matches nothing is an error") {
    const Files files;
    CHECK(files.run({"-o", files.out, "--include", "a.*", "--include", "b.*", "--exclude", "*norm"}).code == 0);
    CHECK(files.names() == "a.weight b.weight ");
    CHECK(files.run({"-o", files.out, "--force", "--exclude", "*weight"}).code == 0);
    CHECK(files.names() == "a.norm ");
    for (const std::string flag : {"--include", "--exclude"}) {
        const Outcome outcome = files.run({"-o", files.folder / "none", flag, "c*"});
        CHECK(outcome.code == 3);
        CHECK(contains(outcome.err, "\"c*\""));
    }
    CHECK(files.run({"-o", files.folder / "none", "--exclude", "*"}).code == 3);
    CHECK_FALSE(std::filesystem::exists(files.folder / "none"));
}

TEST_CASE("export warns of numbers that became infinities, and exits with 1") {
    const Files files;
    const Outcome outcome = files.run({"-o", files.out, "--dtype", "F16"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err == "tensorfs: warning: a.norm: 1 of 2 numbers are too large for F16 and became infinities\n");
    CHECK(run_program({"verify", files.out}).code == 0);
    CHECK(files.run({"-o", files.out, "--dtype", "BF16", "--force"}).code == 0);
}

TEST_CASE("export adds metadata and replaces them") {
    const Files files;
    CHECK(files.run({"-o", files.out, "--metadata", "format=pt", "--metadata", "a=b=c"}).code == 0);
    CHECK(contains(read_file(files.out), R"({"__metadata__":{"format":"pt","a":"b=c"},)"));
}

TEST_CASE("export refuses what makes no sense, and writes nothing") {
    const Files files;
    const auto refusal = [&](const std::vector<std::string>& words) {
        std::vector<std::string> all{"-o", files.out};
        all.insert(all.end(), words.begin(), words.end());
        const Outcome outcome = files.run(all);
        CHECK(outcome.code == 2);
        CHECK_FALSE(std::filesystem::exists(files.out));
        return outcome.err;
    };
    CHECK(contains(refusal({"--format", "npz", "--max-shard-size", "1GB"}), "npz has no shards"));
    CHECK(contains(refusal({"--format", "pytorch", "--metadata", "a=b"}), "pytorch has no metadata"));
    CHECK(contains(refusal({"--format", "safetensors-f32", "--dtype", "F16"}), "says the dtype"));
    CHECK(contains(refusal({"--metadata", "novalue"}), "KEY=VALUE"));
    CHECK(contains(refusal({"--metadata", "a=b", "--metadata", "a=c"}), "given twice"));
    CHECK(contains(refusal({"--metadata", "a=\xFF"}), "not UTF-8"));
    CHECK(contains(refusal({"--metadata", "tensorfs.quantised=x"}), "writes itself"));
    CHECK(contains(refusal({"--dtype", "F64"}), "not one of BF16, F16 and F32"));
    CHECK(contains(refusal({"--format", "gguf"}), "not one of"));
    for (const std::string size : {"0", "5gb", "GB", "5", "-1GB", "1.5GB", "5 GB", "5GBs", "99999999999TB"}) {
        if (size == "5") continue;  // bytes
        CHECK(contains(refusal({"--max-shard-size", size}), "is not a size"));
    }
    CHECK(files.run({}).code == 2);  // no target
    CHECK(files.run({"-o", ""}).code == 2);
    CHECK(files.run({"-o", files.out + "/"}).code == 2);
}

TEST_CASE("export makes shards, of sizes in powers of 1000 or 1024") {
    const Files files;
    CHECK(files.run({"--output", files.out, "--max-shard-size", "12"}).code == 0);
    CHECK(run_program({"verify", files.out}).out == files.out + ": OK\n");
    CHECK(run_program({"diff", files.in, files.out}).code == 0);
    CHECK(std::filesystem::exists(files.out + "/model-00002-of-00002.safetensors"));
    for (const std::string size : {"1KB", "1KiB", "5GB", "1TiB"}) {
        const std::string folder = files.folder / size;
        CHECK(files.run({"-o", folder + "/", "--max-shard-size", size}).code == 0);
        CHECK(std::filesystem::exists(folder + "/model.safetensors"));
    }
}

TEST_CASE("export has a code of its own for a target that cannot be written") {
    const Files files;
    const Outcome same = files.run({"-o", files.in, "--force"});
    CHECK(same.code == 10);
    CHECK(contains(same.err, "of the source itself"));
    CHECK(files.run({"-o", files.folder / "no/such"}).code == 10);
    CHECK(run_program({"verify", files.in}).code == 0);
}

TEST_CASE("export takes the options of the source by -O, and notes what NumPy lacks") {
    const Files files;
    write_file(files.folder / "m/model.safetensors", safetensors_file({{"plain", "U8", {1}, "1"}}));
    write_file(files.folder / "m/model.fp16.safetensors", safetensors_file({{"variant", "BF16", {1}, "12"}}));
    const Outcome outcome =
        run_program({"export", files.folder / "m", "-O", "variant=fp16", "-o", files.out, "--format", "npz"});
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.err, "NumPy lacks BF16"));
    CHECK(files.names() == "variant ");
}

TEST_CASE("export names an archive's bad names without obeying them") {
    const Files files;
    write_file(files.in, safetensors_file({{"../\x1B[2J", "U8", {1}, "1"}}));
    const Outcome outcome = files.run({"-o", files.out, "--format", "npz"});
    CHECK(outcome.code == 4);
    CHECK(contains(outcome.err, "\\x1B[2J"));
    CHECK_FALSE(contains(outcome.err, "\x1B"));
    CHECK_FALSE(std::filesystem::exists(files.out));
}
