#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/formats/numpy/archive.hpp"
#include "tests/core/formats/zip/archive.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/sha256.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

using Json = nlohmann::json;

/// An array's file: the prefix of a version, this text, and the data.
std::string array_file(const std::string& text, const std::string& data, unsigned version = 1) {
    return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
           little_endian(text.size(), version == 1 ? 2 : 4) + text + data;
}

std::string header_text(const std::string& descr, const std::string& shape, const std::string& order = "False") {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

numpy::ArrayHeader parse(const std::string& file) { return numpy::parse_array_header(file, file.size(), "a.npy", "a"); }

/// What an array's file is refused for, as "KIND: text"; "" where it is not.
std::string fault(const std::string& file) {
    const auto problems = problems_of([&] { static_cast<void>(parse(file)); });
    if (problems.empty()) return "";
    CHECK(problems[0].path == "a.npy");
    CHECK(problems[0].tensor == "a");
    return std::string(to_string(problems[0].kind)) + ": " + problems[0].text;
}

std::string fault_of_text(const std::string& text) { return fault(array_file(text, std::string(24, 'x'))); }

/// The type that a 'descr' is shown as; else why it is left out, or "refused".
std::string shown_as(const std::string& descr) {
    const std::string file = array_file(header_text("'" + descr + "'", "(2,)"), std::string(4096, 'x'));
    if (!fault(file).empty()) return "refused";
    const numpy::ArrayHeader header = parse(file);
    return header.dtype ? std::string(to_string(*header.dtype)) : header.obstacle;
}

/// A row-major reading of an array, element by element.
std::string elements_of(const std::string& file, const numpy::Array& array) {
    const numpy::ArrayHeader& header = array.header;
    std::uint64_t elements = 1;
    for (const std::uint64_t dim : header.shape) elements *= dim;
    if (elements == 0) return "";
    const std::uint64_t size = header.nbytes / elements;
    std::string bytes;
    for (std::uint64_t i = 0; i < elements; ++i) {
        std::uint64_t at = i;
        if (header.fortran_order) {
            std::vector<std::uint64_t> index(header.shape.size());
            std::uint64_t rest = i;
            for (std::size_t d = index.size(); d-- > 0; rest /= header.shape[d]) index[d] = rest % header.shape[d];
            at = 0;
            for (std::size_t d = index.size(); d-- > 0;) at = at * header.shape[d] + index[d];
        }
        bytes += file.substr(array.offset + at * size, size);
    }
    return bytes;
}

struct Case {
    std::string path;
    std::string expect;
    Json verdict;
};

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    const auto folder = test_data("conformance");
    if (!folder) return cases;
    std::istringstream lines(read_file(*folder / "numpy/verdicts.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        Json verdict = Json::parse(line);
        const std::string path = (*folder / "numpy/cases" / verdict.at("file").get<std::string>()).string();
        const std::string expect = verdict.at("expect");
        cases.push_back({path, expect, std::move(verdict)});
    }
    return cases;
}

/// What a file shows and what it leaves out.
struct Shown {
    numpy::Archive archive;
    std::vector<numpy::Array> arrays;
    std::vector<Problem> problems;
    std::unique_ptr<Shard> shard;
};

Shown show(const std::string& path) {
    Shown shown;
    shown.shard = std::make_unique<Shard>(path);
    shown.problems = problems_of([&] {
        if (path.ends_with(".npy")) {
            shown.arrays.push_back(numpy::read_array(*shown.shard));
        } else {
            shown.archive = numpy::read_archive(*shown.shard);
            shown.arrays = shown.archive.arrays;
        }
    });
    return shown;
}

void check_array(const numpy::Array& array, const Json& expected, const std::string& file) {
    INFO(std::string(array.name));
    REQUIRE(array.header.dtype);
    CHECK(to_string(*array.header.dtype) == expected.at("dtype").get<std::string>());
    CHECK(array.header.shape == expected.at("shape").get<std::vector<std::uint64_t>>());
    CHECK(array.header.is_row_major() == expected.at("contiguous").get<bool>());
    if (expected.contains("begin")) {
        CHECK(array.offset == expected.at("begin").get<std::uint64_t>());
        CHECK(array.offset + array.header.nbytes == expected.at("end").get<std::uint64_t>());
    }
    CHECK(array.offset + array.header.nbytes <= file.size());
    CHECK(sha256(elements_of(file, array)) == expected.at("sha256").get<std::string>());
}

}  // namespace

TEST_CASE("the corpus of NumPy files has its verdicts") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    CHECK(cases.size() >= 93);
    for (const Case& one : cases) {
        INFO(one.path);
        const Shown shown = show(one.path);
        CHECK((one.expect == "any" || shown.problems.empty() == (one.expect != "reject")));
        if (!shown.problems.empty()) continue;
        const std::string file = read_file(one.path);
        std::map<std::string, Json> expected;
        for (const Json& tensor : one.verdict.value("tensors", Json::array())) {
            expected.emplace(tensor.at("name"), tensor);
        }
        if (one.expect != "any") CHECK(shown.arrays.size() == expected.size());
        for (const numpy::Array& array : shown.arrays) {
            const auto found = expected.find(std::string(array.name));
            if (found != expected.end()) check_array(array, found->second, file);
            if (one.expect != "any") CHECK(found != expected.end());
            CHECK(array.offset + array.header.nbytes <= file.size());
        }
        if (!one.verdict.contains("left_out")) continue;
        std::set<std::string> left_out;
        for (const numpy::LeftOut& each : shown.archive.left_out) {
            CHECK_FALSE(each.reason.empty());
            left_out.insert(each.name);
        }
        for (const Json& each : one.verdict.at("left_out")) CHECK(left_out.count(each.at("name")) == 1);
        CHECK(left_out.size() == one.verdict.at("left_out").size());
    }
}

TEST_CASE("a file of which nothing can be shown is refused with the reason and the way out") {
    const auto folder = test_data("conformance");
    if (!folder) SKIP_TEST("the conformance corpus is absent");
    const auto problem = [&](const std::string& name) {
        const Shown shown = show((*folder / "numpy/cases" / name).string());
        return shown.problems.empty() ? std::string() : to_string(shown.problems.front());
    };
    CHECK(contains(problem("compressed.npz"), "CompressedMember: its arrays are compressed"));
    CHECK(contains(problem("compressed.npz"), "numpy.savez"));
    CHECK(contains(problem("keras.npz"), "UnsupportedDtype"));
    CHECK(contains(problem("keras.npz"), "objects, as a pickle"));
    CHECK(contains(problem("empty.npz"), "NotAModel: this zip archive is empty"));
    CHECK(contains(problem("no-array.npz"), "NotAModel"));
    CHECK(contains(problem("type-object.npy"), "UnsupportedDtype"));
    CHECK(contains(problem("type-structured.npy"), "structured"));
    CHECK(contains(problem("type-big-endian.npy"), "big-endian (>f4)"));
    CHECK(contains(problem("header-overflow.npy"), "ValidationOverflow"));
    CHECK(contains(problem("short-data.npz"), "MetadataIncompleteBuffer: tensor"));
    CHECK(contains(problem("bad-header.npz"), "InvalidArrayHeader: tensor"));
}

TEST_CASE("types are shown under safetensors' names, told to be none of those, or refused") {
    for (const std::string order : {"<", "|", "=", ""}) {
        CHECK(shown_as(order + "b1") == "BOOL");
        CHECK(shown_as(order + "i2") == "I16");
        CHECK(shown_as(order + "u8") == "U64");
        CHECK(shown_as(order + "f4") == "F32");
        CHECK(shown_as(order + "c8") == "C64");
        CHECK(shown_as(order + "V2") == "BF16");
    }
    CHECK(shown_as("?") == "BOOL");
    CHECK(shown_as(">i1") == "I8");
    CHECK(shown_as("<f1") == "F8_E5M2");
    CHECK(shown_as("|V1") == "U8");
    CHECK(shown_as(">f4") == "big-endian (>f4)");
    CHECK(shown_as("<c16") == "complex128 (<c16)");
    CHECK(shown_as("<f16") == "long double (<f16)");
    CHECK(shown_as("|S5") == "text (|S5)");
    CHECK(shown_as("<U7") == "text (<U7)");
    CHECK(shown_as("|V3") == "opaque elements (|V3)");
    CHECK(shown_as("<M8[25s]") == "times (<M8[25s])");
    CHECK(shown_as("|O") == "objects, as a pickle (|O)");
    for (const std::string descr : {"", "<", "f", "4", "f3", "f5", "x4", "i16", "<f4 ", "<<f4", "f4[s]", "M8[s",
                                    "M4[s]", "O7", "f-4", "f99999999999999999999", "U9999999999999999999"}) {
        INFO(descr);
        CHECK(shown_as(descr) == "refused");
    }
}

TEST_CASE("a header is a literal of Python with exactly three keys") {
    CHECK(fault_of_text("{'descr':'<f4','fortran_order':False,'shape':(2,3)}") == "");
    CHECK(fault_of_text("\t{ \"shape\" : ( 2 , 3 , ) ,\n'fortran_order' : True , 'descr' : \"<f4\" , } \n\n") == "");
    CHECK(fault_of_text(header_text("'<f4'", "(2L, 3L)")) == "");
    CHECK(fault_of_text(header_text("[('a', '<f4'), ('b', [('c', '<i4', (2, 2))]), (('t', 'n'), '|O')]", "(1,)")) ==
          "");
    CHECK(fault_of_text(header_text("('<f4', (2, None, True,))", "()")) == "");
    CHECK(contains(fault_of_text(""), "'{' is missing"));
    CHECK(contains(fault_of_text("{"), "in quotes is missing"));
    CHECK(contains(fault_of_text("{}"), "is missing"));
    CHECK(contains(fault_of_text("{'descr':'<f4','shape':(2,3)}"), "is missing"));
    CHECK(contains(fault_of_text("{'descr':'<f4','descr':'<f8','fortran_order':False,'shape':(2,)}"), "twice"));
    CHECK(contains(fault_of_text("{'x':1}"), "none of"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(2,)") + "x"), "behind"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(2,)") + '\0'), "behind"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(3)")), "not a tuple"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "3")), "no tuple"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "[3]")), "no tuple"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(-1,)")), "negative"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(1+1,)")), "missing"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(True,)")), "no whole number"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(,)")), "no whole number"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(2.0,)")), "missing"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(9223372036854775808,)")), "larger than any array"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(2,)", "0")), "neither True nor False"));
    CHECK(contains(fault_of_text(header_text("'<f\\x34'", "(2,)")), "backslash"));
    CHECK(contains(fault_of_text(header_text("'<f4", "(2,)")), "is missing"));
    CHECK(contains(fault_of_text(header_text("None", "(2,)")), "neither a text nor"));
    CHECK(contains(fault_of_text(header_text(std::string(5000, '['), "(2,)")), "nested too deeply"));
    CHECK(contains(fault_of_text(header_text("[open('canary', 'w')]", "(2,)")), "no whole number"));
}

TEST_CASE("an array has at most 64 dimensions, and all of its elements") {
    const auto dims = [](std::size_t count) {
        std::string shape = "(";
        for (std::size_t i = 0; i < count; ++i) shape += "1, ";
        return shape + ")";
    };
    CHECK(fault_of_text(header_text("'<f4'", dims(64))) == "");
    CHECK(contains(fault_of_text(header_text("'<f4'", dims(65))), "more than 64"));
    CHECK(fault_of_text(header_text("'<f4'", "(6,)")) == "");
    CHECK(fault_of_text(header_text("'<f4'", "(5,)")) == "");
    CHECK(contains(fault_of_text(header_text("'<f4'", "(7,)")), "MetadataIncompleteBuffer"));
    CHECK(contains(fault_of_text(header_text("'|S5'", "(5,)")), "MetadataIncompleteBuffer"));
    CHECK(contains(fault_of_text(header_text("'<U2'", "(4,)")), "MetadataIncompleteBuffer"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(4294967296, 4294967296)")), "ValidationOverflow"));
    CHECK(contains(fault_of_text(header_text("'<f4'", "(4294967296, 4294967296, 0)")), "ValidationOverflow"));
    CHECK(contains(fault_of_text(header_text("'<f8'", "(2305843009213693952,)")), "ValidationOverflow"));
    CHECK(fault_of_text(header_text("'<f4'", "(0, 4294967296, 4294967296)")) == "");
}

TEST_CASE("an array's file begins with magic, version and length, and any part of that may be missing") {
    const std::string text = header_text("'<f4'", "(2, 3)");
    for (const unsigned version : {1U, 2U, 3U}) {
        const std::string file = array_file(text, std::string(24, 'x'), version);
        CHECK(fault(file) == "");
        CHECK(numpy::array_header_size(file) == file.size() - 24);
        CHECK(parse(file).data == file.size() - 24);
        for (std::size_t size = 0; size < file.size(); ++size) CHECK(fault(file.substr(0, size)) != "");
    }
    CHECK(contains(fault(array_file(text, "", 0)), "version 0.0"));
    CHECK(contains(fault(array_file(text, "", 4)), "version 4.0"));
    std::string minor = array_file(text, std::string(24, 'x'));
    minor[7] = 1;
    CHECK(contains(fault(minor), "version 1.1"));
    std::string huge = array_file(text, std::string(24, 'x'), 2);
    huge.replace(8, 4, "\xFF\xFF\xFF\xFF");
    CHECK(contains(fault(huge), "more than 65535"));
    CHECK(numpy::array_header_size(huge) == 0);
}

TEST_CASE("headers longer than what is read at first are read whole, in files and in archives") {
    const std::string text = header_text("'<f4'", "(2,)" + std::string(5000, ' '));
    const std::string file = array_file(text, "12345678");
    const TemporaryFolder folder;
    write_file(folder / "long.npy", file);
    const Shard shard(folder / "long.npy");
    const numpy::Array array = numpy::read_array(shard);
    CHECK(array.name == "long");
    CHECK(array.offset == file.size() - 8);
    write_file(folder / "long.npz", zip_archive({{"x.npy", file}, {"y.npy", file}}));
    const numpy::Archive archive = numpy::read_archive(Shard(folder / "long.npz"));
    REQUIRE(archive.arrays.size() == 2);
    CHECK(read_file(folder / "long.npz").substr(archive.arrays[1].offset, 8) == "12345678");
}

TEST_CASE("of an archive's bad arrays, the first in the file is told") {
    const std::string good = array_file(header_text("'<f4'", "(2,)"), "12345678");
    std::vector<ZipMember> members;
    for (std::size_t i = 0; i < 2000; ++i) {
        members.push_back({std::to_string(i) + ".npy", i % 500 == 321 ? good.substr(0, good.size() - 1) : good});
    }
    const TemporaryFolder folder;
    write_file(folder / "a.npz", zip_archive(members));
    for (int i = 0; i < 10; ++i) {
        const auto problems = problems_of([&] { static_cast<void>(numpy::read_archive(Shard(folder / "a.npz"))); });
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].tensor == "321");
    }
}
