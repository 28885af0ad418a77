#include "core/tensors/dequantise.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/core/tensors/blocks.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// What is computed of blocks: the values that the reference computed of the same ones, what the types' rules give by
// themselves, and what must hold of every type. All is asked of each processor's code that can run here.

namespace {

void set_half(std::string& block, std::size_t at, std::uint32_t code) {
    block[at] = static_cast<char>(code & 0xFF);
    block[at + 1] = static_cast<char>(code >> 8);
}

/// The values of one block, by the code that is chosen here.
std::vector<float> values_of(Dtype dtype, const std::string& block) {
    std::vector<float> out(block_of(dtype).elements);
    REQUIRE(block.size() == block_of(dtype).nbytes);
    dequantise(dtype, reinterpret_cast<const std::byte*>(block.data()), out.size(), out.data());
    return out;
}

}  // namespace

TEST_CASE("every quantised type's values are bit by bit those that the reference computed of the same blocks") {
    const auto corpus = test_data("conformance/gguf/dequant");
    if (!corpus) SKIP_TEST("there is no conformance/gguf/dequant in the test data");
    std::istringstream lines(read_file(*corpus / "manifest.jsonl"));
    std::size_t types = 0;
    for (std::string line; std::getline(lines, line); ++types) {
        const auto row = nlohmann::json::parse(line);
        const std::string name = row.at("type");
        const auto dtype = parse_dtype(name);
        REQUIRE(dtype);
        CHECK(block_of(*dtype).elements == row.at("elements"));
        CHECK(block_of(*dtype).nbytes == row.at("bytes"));
        const std::string blocks = read_file(*corpus / (name + ".blocks"));
        const std::vector<float> expected = floats_from(read_file(*corpus / (name + ".f32")));
        for (const Processor processor : processors_here()) {
            INFO(name << " by processor " << static_cast<int>(processor));
            const std::vector<float> values = dequantised(processor, *dtype, blocks);
            REQUIRE(values.size() == expected.size());
            CHECK(differing(values, expected) == 0);
            CHECK(std::count_if(values.begin(), values.end(), [](float value) { return std::isnan(value); }) ==
                  row.at("nan"));
        }
    }
    CHECK(types == quantised_types().size() - 1);  // the reference computes nothing of Q8_1
}

TEST_CASE("Q8_1 is a scale times codes: what Q8_0 is, with a sum between them that changes nothing") {
    const std::string random = sample_bytes(1000 * 34, 3);
    std::string blocks_0, blocks_1;
    for (std::size_t at = 0; at < random.size(); at += 34) {
        blocks_0 += random.substr(at, 34);
        blocks_1 += random.substr(at, 2) + random.substr(random.size() - at - 2, 2) + random.substr(at + 2, 32);
    }
    for (const Processor processor : processors_here()) {
        CHECK(differing(dequantised(processor, Dtype::Q8_1, blocks_1), dequantised(processor, Dtype::Q8_0, blocks_0)) ==
              0);
    }
    std::string block(36, '\0');
    set_half(block, 0, 0xB800);  // -0.5
    for (int j = 0; j < 32; ++j) block[static_cast<std::size_t>(4 + j)] = static_cast<char>(j * 8 - 128);
    const std::vector<float> values = values_of(Dtype::Q8_1, block);
    for (int j = 0; j < 32; ++j) {
        CHECK(values[static_cast<std::size_t>(j)] == -0.5F * static_cast<float>(j * 8 - 128));
    }
}

TEST_CASE("any whole blocks of many, wherever they lie, have the values that they have among all") {
    for (const Dtype dtype : quantised_types()) {
        const std::size_t nbytes = block_of(dtype).nbytes;
        const std::size_t elements = block_of(dtype).elements;
        constexpr std::size_t blocks = 9;
        const std::string source = sample_bytes(blocks * nbytes, 7);
        for (const Processor processor : processors_here()) {
            const std::vector<float> all = dequantised(processor, dtype, source);
            for (std::size_t begin = 0; begin < blocks; ++begin) {
                for (std::size_t end = begin; end <= blocks; ++end) {
                    INFO(to_string(dtype) << " blocks " << begin << " to " << end);
                    // At an odd address, and with nothing of ours behind them.
                    const std::string moved = std::string(1 + begin, 'x') + source.substr(begin * nbytes);
                    constexpr float untouched = 1234.5F;
                    std::vector<float> out((end - begin) * elements + 2, untouched);
                    dequantise(processor, dtype, reinterpret_cast<const std::byte*>(moved.data()) + 1 + begin,
                               (end - begin) * elements, out.data() + 1);
                    REQUIRE(out.front() == untouched);
                    REQUIRE(out.back() == untouched);
                    const std::vector<float> part(out.begin() + 1, out.end() - 1);
                    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin * elements);
                    REQUIRE(differing(part, {first, first + static_cast<std::ptrdiff_t>(part.size())}) == 0);
                }
            }
        }
    }
}

TEST_CASE("the code for each processor that runs here gives the same bits") {
    CHECK(processors_here().front() == Processor::baseline);
    CHECK(processors_here().back() == best_processor());
    for (const Dtype dtype : quantised_types()) {
        const std::string blocks = sample_bytes(2000 * block_of(dtype).nbytes, 11);
        const std::vector<float> expected = dequantised(Processor::baseline, dtype, blocks);
        for (const Processor processor : processors_here()) {
            INFO(to_string(dtype) << " by processor " << static_cast<int>(processor));
            CHECK(differing(dequantised(processor, dtype, blocks), expected) == 0);
        }
        std::vector<float> chosen(expected.size());
        dequantise(dtype, reinterpret_cast<const std::byte*>(blocks.data()), chosen.size(), chosen.data());
        CHECK(differing(chosen, expected) == 0);
    }
}

TEST_CASE("an infinite scale times 0 is no number, and times others infinite") {
    std::string block(18, '\x80');  // q of element 0 is 0, of element 16 it is 8, which stands for 0
    set_half(block, 0, 0x7C00);
    const std::vector<float> values = values_of(Dtype::Q4_0, block);
    CHECK(values[0] == -INFINITY);
    CHECK(std::isnan(values[16]));
}

TEST_CASE("the scale of an MXFP4 is a power of two from 2^-128 on, of which the last is no NaN") {
    const std::vector<std::pair<int, float>> known{{0, 0x1p-127F}, {1, 0x1p-126F},  {2, 0x1p-125F}, {127, 1.0F},
                                                   {128, 2.0F},    {254, 0x1p127F}, {255, INFINITY}};
    for (const auto& [e, value] : known) {
        const std::string codes(16, '\x22');
        for (const float each : values_of(Dtype::MXFP4, static_cast<char>(e) + codes)) REQUIRE(each == value);
    }
    // Code 1 is half of that, and code 8 is +0, not -0.
    CHECK(values_of(Dtype::MXFP4, '\xFF' + std::string(16, '\x11'))[0] == 0x1p127F);
    CHECK_FALSE(std::signbit(values_of(Dtype::MXFP4, '\x80' + std::string(16, '\x88'))[0]));
}

TEST_CASE("the scales of an NVFP4 are half floats of 8 bits without sign, of which 0x7F is 0") {
    const std::vector<std::pair<int, float>> known{{0x00, 0},       {0x01, 0x1p-9F}, {0x07, 7 * 0x1p-9F},
                                                   {0x08, 0x1p-6F}, {0x38, 1.0F},    {0x7E, 448},
                                                   {0x7F, 0},       {0x80, 0},       {0xFF, 480}};
    for (const auto& [scale, value] : known) {
        for (std::size_t group = 0; group < 4; ++group) {
            std::string block = std::string(4, '\0') + std::string(32, '\x22');
            block[group] = static_cast<char>(scale);
            const std::vector<float> values = values_of(Dtype::NVFP4, block);
            for (std::size_t j = 0; j < values.size(); ++j) REQUIRE(values[j] == (j / 16 == group ? value : 0.0F));
        }
    }
}

TEST_CASE("27 types are quantised, with the names and sizes of blocks that they have in GGUF") {
    const std::vector<Dtype> types = quantised_types();
    CHECK(types.size() == 27);
    for (const Dtype dtype : types) {
        INFO(to_string(dtype));
        CHECK(parse_dtype(to_string(dtype)) == dtype);
        CHECK(block_of(dtype).elements % 32 == 0);
        CHECK(block_of(dtype).nbytes > block_of(dtype).elements / 8);
    }
    CHECK(block_of(Dtype::IQ1_S) == Block{256, 50});
    CHECK_FALSE(is_quantised(Dtype::BOOL));
    CHECK_FALSE(is_quantised(Dtype::F8_E8M0));
    CHECK_FALSE(is_quantised(Dtype::U64));
}
