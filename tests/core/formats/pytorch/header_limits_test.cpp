#include <functional>

#include "core/formats/pickle/pickle.hpp"
#include "tests/core/formats/pytorch/writer.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;
using namespace std::string_literals;

// How much memory a checkpoint may cost, whatever its pickle makes of itself.

namespace {

constexpr std::size_t mib = 1 << 20;
constexpr std::size_t most = 512 * mib;

std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    all.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

/// The pickle with a text in front that makes it as large as may be.
std::string padded(std::string_view instructions) {
    const std::size_t size = pickle::max_pickle_size - instructions.size() - 6;
    std::string text = "X" + little_endian(size, 4);
    text.resize(text.size() + size, 'x');
    return text.append("0").append(instructions);
}

struct Cost {
    std::size_t memory;
    std::string kind;  // of the first problem
};

Cost cost_of(const std::string& pickle, const StorageBytes& storages = one_storage()) {
    const TemporaryFolder folder;
    write_file(folder / "m.pt", archive(pickle, storages));
    const Shard shard(folder / "m.pt");
    std::vector<Problem> problems;
    const std::size_t memory = memory_of([&] { problems = problems_of([&] { pytorch::read_header(shard); }); });
    return {memory, problems.empty() ? "" : std::string(to_string(problems[0].kind))};
}

/// Names of five letters.
std::string name_of(std::uint32_t number) {
    std::string name(5, 'a');
    for (char& letter : name) {
        letter = static_cast<char>('a' + number % 26);
        number /= 26;
    }
    return name;
}

}  // namespace

TEST_CASE("a pickle that fills stack, memo, containers and values takes no more than 512 MiB", "[thorough]") {
    const std::string stack(8 << 20, 'N');
    const std::string memo = "N" + std::string(8 << 20, '\x94');
    const std::string values = repeated("]0", 6 << 20);
    const std::string pool = repeated("(" + std::string(1 << 20, 'N') + "t0", 12);
    const std::string marks((4 << 20) - 1, '(');
    const std::string nearly = memo.substr(0, memo.size() - 2) + values.substr(0, values.size() - 256) +
                               pool.substr(0, pool.size() / 12 * 11) + marks + stack.substr(2);
    for (const std::string& bomb : {stack + "N.", memo + "\x94.", values + "].", pool + ").", marks + "((."}) {
        const Cost cost = cost_of(bomb);
        CHECK(cost.kind == "InvalidPickle");
        CHECK(cost.memory < most);
    }
    // It breaks no rule, and is of nothing.
    const Cost cost = cost_of(padded(nearly + "."));
    CHECK(cost.kind == "NotAModel");
    CHECK(cost.memory < most);
}

TEST_CASE("a pickle of millions of storages or names takes no more than 512 MiB", "[thorough]") {
    std::string storages = "\x80\2](ctorch\nFloatStorage\nq\0X\7\0\0\0storageq\1"s;
    for (std::uint32_t i = 0; i < 1'200'000; ++i) storages += "(h\1h\0X\5\0\0\0"s + name_of(i) + "h\1K\1tQ";
    const Cost of_storages = cost_of(storages + "e.");
    CHECK(of_storages.kind == "InvalidPickle");
    CHECK(of_storages.memory < most);

    // One tensor of many dimensions, under as many names as there may be and more.
    for (const auto& [rank, count] : {std::pair{2U, 1'000'000U}, {60U, 200'000U}}) {
        PickleWriter pickle;
        write_tensor(pickle, {{}, 0, Dims(rank, 1), Dims(rank, 1)}).put(9).raw("0}(");
        std::string names;
        for (std::uint32_t i = 0; i < count; ++i) names.append("X\5\0\0\0"s).append(name_of(i)).append("h\x09");
        const Cost cost = cost_of(pickle.raw(names).set_items().stop());
        CHECK(cost.kind == (rank == 2 ? "" : "InvalidPickle"));
        CHECK(cost.memory < most);
    }
}

TEST_CASE("a pickle of a million wrong or unknown tensors takes no more than 512 MiB", "[thorough]") {
    for (const bool is_sparse : {false, true}) {
        PickleWriter pickle;
        if (is_sparse) {
            pickle.global("torch._utils", "_rebuild_sparse_tensor").raw(")R");
        } else {
            write_tensor(pickle, {{}, 9, {4}, {1}});
        }
        pickle.put(1).raw("0}(");
        std::string names;
        for (std::uint32_t i = 0; i < 1'000'000; ++i) names.append("X\5\0\0\0"s).append(name_of(i)).append("h\1");
        const Cost cost = cost_of(pickle.raw(names).set_items().stop());
        CHECK(cost.kind == (is_sparse ? "NotAModel" : "StorageOutOfBounds"));
        CHECK(cost.memory < most);
    }
}

TEST_CASE("a checkpoint of 200,000 tensors is read, in memory of no more than six times its pickle", "[thorough]") {
    PickleWriter pickle;
    pickle.dict().mark();
    for (int i = 0; i < 200'000; ++i)
        write_tensor(pickle.text("model.layers." + std::to_string(i) + ".self_attn.q_proj.weight"));
    const std::string bytes = pickle.set_items().stop();
    const Cost cost = cost_of(bytes);
    CHECK(cost.kind.empty());
    CHECK(cost.memory < 6 * bytes.size());
}
