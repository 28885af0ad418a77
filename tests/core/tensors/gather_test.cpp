#include "core/tensors/gather.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

#include "core/tensors/gather_windows.hpp"
#include "core/tensors/shard.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

using Random = std::mt19937_64;

constexpr std::uint64_t mib = 1 << 20;

/// The row-major bytes, an element at a time.
std::string plainly(const Strided& tensor, const std::string& file) {
    std::uint64_t elements = 1;
    for (const std::uint64_t size : tensor.shape) elements *= size;
    std::string bytes;
    for (std::uint64_t e = 0; e < elements; ++e) {
        std::uint64_t rest = e;
        std::uint64_t at = 0;
        for (std::size_t i = tensor.shape.size(); i-- > 0; rest /= tensor.shape[i]) {
            at += rest % tensor.shape[i] * tensor.strides[i];
        }
        bytes.append(file, tensor.offset + at * tensor.itemsize, tensor.itemsize);
    }
    return bytes;
}

/// A file in memory, which notes how often it was read, and whether beyond what a tensor spans.
struct MemoryFile {
    const std::string& file;
    FileRange allowed;
    std::atomic<std::uint64_t> reads{0};
    std::atomic<bool> went_astray{false};

    ReadAt reader() {
        return [this](std::uint64_t offset, std::span<std::byte> into) {
            ++reads;
            if (offset < allowed.begin || offset > allowed.end || into.size() > allowed.end - offset) {
                went_astray = true;
                return false;
            }
            std::memcpy(into.data(), file.data() + offset, into.size());
            return true;
        };
    }
};

std::span<std::byte> bytes_of(std::string& text) { return {reinterpret_cast<std::byte*>(text.data()), text.size()}; }

/// A tensor of at most 20,000 elements: a permutation, with gaps and expanded dimensions, or any strides.
Strided random_tensor(Random& random) {
    Strided tensor{{}, {}, random() % 8 == 0 ? 1 + random() % 40 : std::uint64_t{1} << random() % 5, random() % 100};
    std::uint64_t elements = 1;
    const std::size_t rank = random() % 6;
    for (std::size_t i = 0; i < rank; ++i) {
        const std::uint64_t most = random() % 4 == 0 ? 300 : 12;
        std::uint64_t size = random() % 16 == 0 ? 0 : random() % 4 == 0 ? 1 : 1 + random() % most;
        if (elements * size > 20000) size = 1;
        tensor.shape.push_back(size);
        elements *= size;
    }
    tensor.strides.resize(rank);
    if (random() % 3 == 0) {
        for (std::uint64_t& stride : tensor.strides) stride = random() % 2000;
        return tensor;
    }
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random);
    const bool has_gaps = random() % 2 == 0;
    std::uint64_t stride = 1;
    for (const std::size_t i : order) {
        if (has_gaps && random() % 4 == 0) stride *= 1 + random() % 5;
        tensor.strides[i] = random() % 12 == 0 ? 0 : stride;
        stride *= std::max<std::uint64_t>(1, tensor.shape[i]);
    }
    return tensor;
}

}  // namespace

TEST_CASE("any range of any strided tensor is read as it is plainly, and nothing outside its extent") {
    Random random(7);
    const std::string file = sample_bytes(2 * mib, 1);
    std::size_t tensors = 0;
    for (int i = 0; i < 1500; ++i) {
        const Strided tensor = random_tensor(random);
        const auto range = extent(tensor, file.size());
        if (!range) continue;
        ++tensors;
        const Gather gather(tensor);
        const std::string expected = plainly(tensor, file);
        REQUIRE(gather.nbytes() == expected.size());
        if (is_row_major(tensor)) CHECK((expected == file.substr(tensor.offset, expected.size())));
        MemoryFile source{file, *range};
        for (int j = 0; j < 4 && !expected.empty(); ++j) {
            const std::uint64_t begin = j == 0 ? 0 : random() % expected.size();
            std::string out(j == 0 ? expected.size() : 1 + random() % (expected.size() - begin), '\0');
            REQUIRE(gather.read(begin, bytes_of(out), source.reader()));
            REQUIRE((out == expected.substr(begin, out.size())));
        }
        REQUIRE_FALSE(source.went_astray);
    }
    CHECK(tensors > 1000);
}

TEST_CASE("matrices larger than what is gathered at a time are read right, in any requests") {
    const std::string file = sample_bytes(6 * mib, 2);
    for (const std::uint64_t itemsize : {1U, 2U, 3U, 4U, 8U, 16U}) {
        INFO(itemsize << " bytes an element");
        const std::uint64_t rows = 700;
        const std::uint64_t columns = 5 * mib / rows / itemsize;
        const Strided tensor{{columns, rows}, {1, columns}, itemsize, 13};
        const std::string expected = plainly(tensor, file);
        const Gather gather(tensor);
        MemoryFile source{file, *extent(tensor, file.size())};
        GatherWindows windows;
        for (const std::uint64_t request : {std::uint64_t{100'000}, mib, gather.nbytes()}) {
            std::string all;
            std::string windowed;
            for (std::uint64_t at = 0; at < gather.nbytes(); at += request) {
                std::string out(std::min(request, gather.nbytes() - at), '\0');
                REQUIRE(gather.read(at, bytes_of(out), source.reader()));
                all += out;
                REQUIRE(windows.read(gather, {&gather, nullptr, 0}, at, bytes_of(out), source.reader()));
                windowed += out;
            }
            CHECK((all == expected));
            CHECK((windowed == expected));
        }
        CHECK_FALSE(source.went_astray);
    }
}

TEST_CASE("the extent of a tensor is the bytes from its first element to the last, if the file has them") {
    const auto text = [](const Strided& tensor, std::uint64_t size) {
        const auto range = extent(tensor, size);
        return range ? std::to_string(range->begin) + "-" + std::to_string(range->end) : "none";
    };
    CHECK(text({{2, 3}, {1, 2}, 4, 10}, 34) == "10-34");
    CHECK(text({{2, 3}, {1, 2}, 4, 10}, 33) == "none");
    CHECK(text({{2, 3}, {100, 7}, 2, 0}, 1000) == "0-230");
    CHECK(text({{5}, {0}, 8, 3}, 11) == "3-11");
    CHECK(text({{}, {}, 8, 3}, 11) == "3-11");
    CHECK(text({{1, 1}, {UINT64_MAX, UINT64_MAX}, 8, 3}, 11) == "3-11");
    CHECK(text({{0, 9}, {UINT64_MAX, UINT64_MAX}, 8, UINT64_MAX}, 0) == "0-0");
    CHECK(text({{2}, {UINT64_MAX}, 1, 0}, UINT64_MAX) == "none");
    CHECK(text({{2, 2}, {UINT64_MAX / 2, UINT64_MAX / 2 + 2}, 1, 0}, UINT64_MAX) == "none");
    CHECK(text({{2}, {UINT64_MAX / 2}, 4, 0}, UINT64_MAX) == "none");
    CHECK(text({{2}, {1}, 4, UINT64_MAX - 3}, UINT64_MAX) == "none");
    CHECK(text({{std::uint64_t{1} << 62}, {0}, 4, 0}, 100) == "none");  // 2^64 bytes of the result
    CHECK(text({{std::uint64_t{1} << 61}, {0}, 4, 0}, 100) == "0-4");
}

TEST_CASE("row-major is what a slice can hold") {
    CHECK(is_row_major({{}, {}, 4, 0}));
    CHECK(is_row_major({{2, 3}, {3, 1}, 4, 0}));
    CHECK(is_row_major({{2, 1, 3}, {3, 99, 1}, 4, 0}));
    CHECK(is_row_major({{0, 3}, {7, 7}, 4, 0}));
    CHECK_FALSE(is_row_major({{2, 3}, {1, 2}, 4, 0}));
    CHECK_FALSE(is_row_major({{2, 3}, {4, 1}, 4, 0}));
    CHECK_FALSE(is_row_major({{3}, {2}, 4, 0}));
    CHECK_FALSE(is_row_major({{3}, {0}, 4, 0}));
}

TEST_CASE("an expanded tensor of petabytes is read in any place") {
    const std::string file = "abcdefgh";
    const std::uint64_t huge = std::uint64_t{1} << 40;
    const Gather gather({{huge, 2, 256}, {0, 1, 0}, 4, 0});
    MemoryFile source{file, {0, 8}};
    std::string out(16, '\0');
    REQUIRE(gather.read(gather.nbytes() / 2 - 8, bytes_of(out), source.reader()));
    CHECK(out == "efghefghabcdabcd");
}

TEST_CASE("elements that are near each other are read together") {
    const std::string file = sample_bytes(mib, 3);
    const auto reads = [&](const Strided& tensor) {
        MemoryFile source{file, *extent(tensor, file.size())};
        const Gather gather(tensor);
        std::string out(gather.nbytes(), '\0');
        REQUIRE(gather.read(0, bytes_of(out), source.reader()));
        return source.reads.load();
    };
    CHECK(reads({{256, 256}, {1, 256}, 4, 0}) == 1);    // all of the file's rows
    CHECK(reads({{16, 100}, {1, 1000}, 4, 0}) == 100);  // a piece of each of the file's rows
    CHECK(reads({{1000}, {2}, 4, 0}) == 1);             // every second
    CHECK(reads({{64, 64, 3, 3}, {576, 1, 192, 64}, 4, 0}) == 1);
    CHECK(reads({{100}, {0}, 4, 0}) == 1);
}

TEST_CASE("what cannot be read is said, whichever piece of it") {
    const std::string file = sample_bytes(mib, 4);
    const Strided tensor{{500, 500}, {1, 500}, 4, 0};
    const Gather gather(tensor);
    for (int fails = 0; fails < 3; ++fails) {
        int left = fails;
        std::string out(gather.nbytes(), '\0');
        CHECK_FALSE(gather.read(0, bytes_of(out), [&](std::uint64_t, std::span<std::byte>) { return left-- > 0; }));
    }
}

TEST_CASE("of a file that was cut short since, what is left can be gathered, and no signal comes") {
    const TemporaryFolder folder;
    const std::string file = sample_bytes(4 * mib, 5);
    write_file(folder / "s", file);
    Shard shard(folder / "s");
    shard.map();
    const Strided tensor{{1024, 1024}, {1, 1024}, 4, 0};
    const Gather gather(tensor);
    GatherWindows windows;
    const ReadAt reader = [&](std::uint64_t at, std::span<std::byte> into) { return shard.copy(at, into); };
    std::string out(gather.nbytes(), '\0');
    REQUIRE(gather.read(0, bytes_of(out), reader));
    CHECK((out == plainly(tensor, file)));
    std::filesystem::resize_file(folder / "s", 2 * mib);
    CHECK_FALSE(gather.read(0, bytes_of(out), reader));
    std::string begin(std::size_t{4} * 100, '\0');  // of the first row, which is a column of the file
    CHECK(gather.read(0, bytes_of(begin), reader));
    for (int i = 0; i < 3; ++i) CHECK(windows.read(gather, {&gather, nullptr, 0}, 0, bytes_of(begin), reader));
    CHECK((begin == plainly(tensor, file).substr(0, begin.size())));
    CHECK_FALSE(windows.read(gather, {&gather, nullptr, 0}, 0, bytes_of(out), reader));
    CHECK(windows.nbytes() == 0);
}

TEST_CASE("reading that goes on takes few reads, and a window that was read is given back") {
    const std::string file = sample_bytes(16 * mib, 6);
    const Strided tensor{{2048, 2048}, {1, 2048}, 4, 0};
    const Gather gather(tensor);
    CHECK(gather.is_scattered());
    CHECK_FALSE(Gather({{2048, 1024}, {2048, 1}, 4, 0}).is_scattered());
    MemoryFile source{file, *extent(tensor, file.size())};
    GatherWindows windows;
    constexpr std::uint64_t request = 64 << 10;
    std::string all;
    std::uint64_t most = 0;
    for (std::uint64_t at = 0; at < gather.nbytes(); at += request) {
        std::string out(request, '\0');
        REQUIRE(windows.read(gather, {&gather, nullptr, 0}, at, bytes_of(out), source.reader()));
        all += out;
        most = std::max(most, windows.nbytes());
    }
    CHECK((all == plainly(tensor, file)));
    CHECK(source.reads <= 4 * 2048);
    CHECK(most <= 16 * mib);
    CHECK(windows.nbytes() <= 8 * mib);  // the first request was gathered by itself
}

TEST_CASE("many tensors at a time have few windows") {
    const std::string file = sample_bytes(16 * mib, 7);
    const Strided tensor{{2048, 2048}, {1, 2048}, 4, 0};
    const std::vector<Gather> gathers(10, Gather(tensor));
    MemoryFile source{file, *extent(tensor, file.size())};
    GatherWindows windows;
    std::string out(4096, '\0');
    for (const std::uint64_t at : {0U, 4096U, 8192U}) {
        for (const Gather& gather : gathers)
            REQUIRE(windows.read(gather, {&gather, nullptr, 0}, at, bytes_of(out), source.reader()));
    }
    CHECK(windows.nbytes() == 32 * mib);
}

TEST_CASE("several threads may read one tensor, in any order") {
    const std::string file = sample_bytes(16 * mib, 8);
    const Strided tensor{{2048, 2048}, {1, 2048}, 4, 0};
    const Gather gather(tensor);
    const std::string expected = plainly(tensor, file);
    MemoryFile source{file, *extent(tensor, file.size())};
    GatherWindows windows;
    std::atomic<std::uint64_t> next{0};
    std::atomic<int> wrong{0};
    constexpr std::uint64_t request = 128 << 10;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            std::string out(request, '\0');
            for (std::uint64_t at = next++ * request; at < gather.nbytes(); at = next++ * request) {
                if (!windows.read(gather, {&gather, nullptr, 0}, at, bytes_of(out), source.reader()) ||
                    std::memcmp(out.data(), expected.data() + at, request) != 0) {
                    ++wrong;
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}
