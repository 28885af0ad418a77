#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "core/tensors/dequantise.hpp"
#include "tests/support/catch.hpp"
#include "tests/core/tensors/blocks.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// Eight blocks of each type, made by a formula, with what the reference computed of them: so that all types are
// checked where the test data is absent, too.

namespace {

struct Golden {
    Dtype dtype;
    int d, m;                           // where a block's binary16 fields are: scale and minimum; -1: none
    std::string_view blocks;            // how the SHA-256 of the blocks begins
    std::array<std::uint32_t, 4> bits;  // of the first three values and the last
    std::string_view values;            // SHA-256 of all
};

const std::vector<Golden> all_golden{
    {Dtype::Q1_0,
     0,
     -1,
     "7695cebd67b66afb",
     {0x3DCCC000, 0x3DCCC000, 0xBDCCC000, 0x3DCCC000},
     "023b58e10dde4ca16e0a66c5df292fcf3b628fc2f5eadaa0ef2bb0e5a0a7d12c"},
    {Dtype::Q2_0,
     0,
     -1,
     "7695cebd67b66afb",
     {0x3E4CC000, 0x3DCCC000, 0x3E4CC000, 0x3DCCC000},
     "07f3a2c05b205b4219353a6a42718ab371a5b1902a802008454b961fa01aa154"},
    {Dtype::Q4_0,
     0,
     -1,
     "7695cebd67b66afb",
     {0x3E999000, 0x3E999000, 0x3DCCC000, 0x00000000},
     "1b3afce326531cf261bbc137945eaa6494f0eaa99e09b8b73572dfcaebf293be"},
    {Dtype::Q4_1,
     0,
     2,
     "dae8a1017707bfc6",
     {0x3F598C00, 0x3EE65800, 0x3FB98E00, 0x3F598C00},
     "872d956d6e6c0c117191f19695f0a6f5aec1f5a2286a9c01441c3729c32c4e16"},
    {Dtype::Q5_0,
     0,
     -1,
     "e0b299220adb5b7c",
     {0x3FBFF400, 0x3F332800, 0xBE999000, 0x3FB32800},
     "d8c849551b0074084a25256f561d9ed55831240e7b580c3b30cb5eba5b364065"},
    {Dtype::Q5_1,
     0,
     2,
     "2412c51a6fbf99d8",
     {0x40365B00, 0x3D4CC000, 0x3E7FF000, 0x3F0CC400},
     "7057ec265d8b78b6a5eaf619a0144f2a6f8c3c7f45d142afc27e470edc2977bf"},
    {Dtype::Q8_0,
     0,
     -1,
     "80528b05926938dd",
     {0x40BCC100, 0x412B2880, 0xC10B2A80, 0x40BFF400},
     "2d220561d64ea743edbb6a1b4e1759a3c5d71832b9b6b6496ffd3c937672acc7"},
    {Dtype::Q2_K,
     80,
     82,
     "336691c8457bf991",
     {0x3EFFF000, 0x3EFFF000, 0x3FBFF400, 0x3F3FF400},
     "c97f43c8158a97218b968812b72b2dd70eaa55fa0ea3a5c6b791594bf8da9609"},
    {Dtype::Q3_K,
     108,
     -1,
     "0abff94501b04fa4",
     {0xBF8CC400, 0xBF8CC400, 0xC0532600, 0xBFBFF400},
     "085b084c9f41bcd4c995c90b7825742684d00ec01ba96121590eca54bed6efad"},
    {Dtype::Q4_K,
     0,
     2,
     "4b24ab27b44de1b5",
     {0x41B5F4A0, 0x421C8FD0, 0x423D5A90, 0x40F18A80},
     "7bcfdbc9f6f02bb3f3ed47e6c1c21a80f3e02be6f94223a1d933253959853aed"},
    {Dtype::Q5_K,
     0,
     2,
     "a40436834218bc3b",
     {0x42B0A828, 0x42D172E8, 0x42E1D848, 0x4202F7D0},
     "549484da2fcd229a8a920fa755a1d4914064d4e287c57b6e0f16a1c6973a1101"},
    {Dtype::Q6_K,
     208,
     -1,
     "5565e886c9a6f554",
     {0x4281C4B0, 0x422528E0, 0xC31F42D8, 0x421CC300},
     "4dadf76ad2516b830c7ffb73c614089178938f1dcd24d5f82578627df00337e4"},
    {Dtype::Q8_K,
     -1,
     -1,
     "23cc88d19e071d46",
     {0xC10B3333, 0xBF8CCCCD, 0x40FCCCCD, 0x40933333},
     "23c97d85aa3ccab13694529516ed90a6fb9178d664e93ebe55984d3599e71ed6"},
    {Dtype::IQ1_S,
     0,
     -1,
     "e7c90ca09ed01266",
     {0xBF498D00, 0x3DE65800, 0x3DE65800, 0x3F919080},
     "67fecbba3924cdb7e552fb6815d49747a0827eecd573f269d3feb0e7d4d0499b"},
    {Dtype::IQ1_M,
     -1,
     -1,
     "abd34eae197ce5f6",
     {0xBAE86B00, 0xBAE86B00, 0xB94E9800, 0xBA5E5D00},
     "2716711a13e25af3ea76019d3648d853f0922969102e35a98c4a35e91fcbf362"},
    {Dtype::IQ2_XXS,
     0,
     -1,
     "c5f7c2c8974d0b41",
     {0xC0E5F1A0, 0xC0E5F1A0, 0xC0132A00, 0x40BDF420},
     "c6b7be369d9f8ba2183d3f7b2c98ce403524aa10b2d76e05934cfd5afce5e40a"},
    {Dtype::IQ2_XS,
     0,
     -1,
     "a3412b19c46b5eaf",
     {0xC145C070, 0x4145C070, 0xC0132A00, 0x3F332800},
     "bfac006ff426e7520ba7f52587a906aa9c45a40297a8252f100dc9dd003176bd"},
    {Dtype::IQ2_S,
     0,
     -1,
     "9c95603fdfa35077",
     {0xC00BF740, 0xC00BF740, 0x4070BDC0, 0xBF665800},
     "562581fc532c9a797ca27f9d705177cd71c5b7fb2199f2a80b39fb1f22b9afc2"},
    {Dtype::IQ3_XXS,
     0,
     -1,
     "41c8c3e8adb95add",
     {0xC180C4C0, 0xC0132A00, 0x40132A00, 0x41AD8EC0},
     "990bd63d606ac7ea494d12f65c6e384d92f5514feda8c627c2f0aae6a4aec446"},
    {Dtype::IQ3_S,
     0,
     -1,
     "58f7037aff873042",
     {0xC0065E00, 0xC05FF200, 0x409CC300, 0xC0065E00},
     "d0e5cd745d3cff0036fe7d07542c3d29f44ee1bf057dd7e70eee7a4f3348bce4"},
    {Dtype::IQ4_NL,
     0,
     -1,
     "7695cebd67b66afb",
     {0x40732400, 0x40732400, 0x3FA65C00, 0x3DCCC000},
     "80981fc87decc1ff71cec0f8c3f2db7f4807e783d706b76adf4f8c0550cdb91a"},
    {Dtype::IQ4_XS,
     0,
     -1,
     "2a93596fead9050c",
     {0x432C7538, 0xC381F7E0, 0xC32275D8, 0xC38D372C},
     "24a1cbf08ce1bf6d77cd9cb7a35e8ab85613dae55f792f2d3d9bb53c96977409"},
    {Dtype::TQ1_0,
     52,
     -1,
     "7e5602e28d661827",
     {0xBDCCC000, 0xBDCCC000, 0xBDCCC000, 0xBDCCC000},
     "fc5ef75847f4e22ba39e8bbca042520a38226aee9ca9ace27d4a30ea53abf817"},
    {Dtype::TQ2_0,
     64,
     -1,
     "bda99fca3a2d7d2d",
     {0x00000000, 0x00000000, 0x3E4CC000, 0x3DCCC000},
     "5bae9bb6ccf1cf79b373f2cf476ac7aafe5d19cbd5381314c8ddb34a136c0a46"},
    {Dtype::MXFP4,
     -1,
     -1,
     "e82293510911491a",
     {0xBA800000, 0xBB400000, 0xBB400000, 0xBE000000},
     "4570d3b0e8e4a8daaa02749e51dc460c864f97f6f9a034856e9a1bb7925211ad"},
    {Dtype::NVFP4,
     -1,
     -1,
     "6246affdff38fa1d",
     {0xBBA00000, 0x3CF00000, 0xBD700000, 0x00000000},
     "0e91ad9227182d94804a15413ed0c6b5a2de741942b1d0f9705e6ac8a0c18a42"},
};

std::string sha256(const void* bytes, std::size_t size) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    REQUIRE(EVP_Digest(bytes, size, digest.data(), &length, EVP_sha256(), nullptr) == 1);
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[digest[i] >> 4];
        text += digits[digest[i] & 15];
    }
    return text;
}

void set_half(std::string& block, int at, unsigned code) {
    if (at < 0) return;
    block[static_cast<std::size_t>(at)] = static_cast<char>(code & 0xFF);
    block[static_cast<std::size_t>(at) + 1] = static_cast<char>(code >> 8);
}

/// Byte i of block k is 7 i^2 + 13 i + 101 k + 5; scales and minima are 0.1 and -0.05, as near as their types come.
std::string blocks_of(const Golden& golden) {
    std::string blocks;
    for (unsigned k = 0; k < 8; ++k) {
        std::string block;
        for (unsigned i = 0; i < block_of(golden.dtype).nbytes; ++i) {
            block += static_cast<char>(7 * i * i + 13 * i + 101 * k + 5);
        }
        set_half(block, golden.d, 0x2E66);
        set_half(block, golden.m, 0xAA66);
        constexpr float tenth = 0.1F;
        if (golden.dtype == Dtype::Q8_K) std::memcpy(block.data(), &tenth, sizeof tenth);
        if (golden.dtype == Dtype::MXFP4) block[0] = static_cast<char>(118 + k);
        if (golden.dtype == Dtype::IQ1_M)
            block[55] = static_cast<char>(block[55] & ~0x40);  // or its scale is no number
        blocks += block;
    }
    return blocks;
}

}  // namespace

TEST_CASE("eight blocks of each type that a formula makes have the values that the reference computed") {
    for (const Golden& golden : all_golden) {
        const std::string blocks = blocks_of(golden);
        INFO(to_string(golden.dtype));
        REQUIRE(sha256(blocks.data(), blocks.size()).substr(0, golden.blocks.size()) == golden.blocks);
        for (const Processor processor : processors_here()) {
            INFO("by processor " << static_cast<int>(processor));
            const std::vector<float> values = dequantised(processor, golden.dtype, blocks);
            for (std::size_t i = 0; i < 3; ++i) CHECK(std::bit_cast<std::uint32_t>(values[i]) == golden.bits[i]);
            CHECK(std::bit_cast<std::uint32_t>(values.back()) == golden.bits[3]);
            CHECK(sha256(values.data(), values.size() * sizeof(float)) == golden.values);
        }
    }
}

TEST_CASE("of each quantised type but Q8_1, of which the reference computes nothing, there are such blocks") {
    for (const Dtype dtype : quantised_types()) {
        const auto count = std::count_if(all_golden.begin(), all_golden.end(),
                                         [&](const Golden& golden) { return golden.dtype == dtype; });
        INFO(to_string(dtype));
        CHECK(count == (dtype == Dtype::Q8_1 ? 0 : 1));
    }
}
