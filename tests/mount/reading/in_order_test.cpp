// What reaches a filesystem where it costs much to jump, such as one that shows a web server's files.

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/clients.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/residency.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t big_size = 24 << 20;
constexpr std::size_t small_size = 3 << 20;
constexpr std::size_t smalls = 4;
constexpr std::size_t page = 4096;

/// What a filesystem was asked for.
struct Asked {
    std::size_t seeks = 0;
    std::size_t bytes = 0;
};

/// A model of `big` and t.0 … t.3 on a filesystem where each jump costs 100 ms. Both are mounted.
class DistantModel {
public:
    explicit DistantModel(const std::string& fault = "seek 100") {
        std::vector<Sample> samples{{"big", "U8", {big_size}, big_}};
        for (std::size_t i = 0; i < smalls; ++i)
            samples.push_back({"t." + std::to_string(i), "U8", {small_size}, small(i)});
        write_file(shards_ / "model.safetensors", safetensors_file(samples));
        write_file(faults_ / "model.safetensors", fault);
        below_ = std::make_unique<Child>(
            std::vector<std::string>{TENSORFS_FAULTY_FS, shards_.path().string(), faults_.path().string(), at_.path()});
        if (!eventually([&] { return std::filesystem::exists(shard()) || below_->ended(); }) || below_->ended())
            throw std::runtime_error("the filesystem below is not there: " + below_->errors());
        mount_.emplace(shard());
    }
    ~DistantModel() { std::filesystem::remove(faults_ / "model.safetensors"); }
    DistantModel(const DistantModel&) = delete;
    DistantModel& operator=(const DistantModel&) = delete;

    [[nodiscard]] std::string shard() const { return at_ / "model.safetensors"; }
    [[nodiscard]] std::string path(std::string_view name) const { return *mount_ / name; }
    [[nodiscard]] const std::string& big() const { return big_; }
    [[nodiscard]] static std::string small(std::size_t i) { return sample_bytes(small_size, 10 + i); }
    /// Since the last time.
    [[nodiscard]] Asked asked() const {
        Asked all;
        std::ifstream in(faults_ / "model.safetensors.reads");
        std::string how;
        for (std::size_t bytes = 0; in >> how >> bytes; all.bytes += bytes) all.seeks += how == "seek" ? 1 : 0;
        std::filesystem::remove(faults_ / "model.safetensors.reads");
        return all;
    }

private:
    std::string big_ = sample_bytes(big_size, 1);
    TemporaryFolder shards_;
    TemporaryFolder faults_;
    MountPoint at_;
    std::unique_ptr<Child> below_;
    std::optional<Mounted> mount_;
};

template <typename Work>
double seconds(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether a scan of a mapping, page by page, finds the bytes.
bool scan(const std::string& path, const std::string& expected) {
    const tensorfs::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    void* const mapped = ::mmap(nullptr, expected.size(), PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped == MAP_FAILED) return false;
    const std::string_view bytes(static_cast<const char*>(mapped), expected.size());
    bool is_right = true;
    for (std::size_t at = 0; at < expected.size(); at += page) is_right = is_right && bytes[at] == expected[at];
    ::munmap(mapped, expected.size());
    return is_right;
}

/// Reads pages of `big` here and there.
bool read_at_random(const DistantModel& model, const std::string& path, std::size_t begin) {
    const tensorfs::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    bool is_right = true;
    for (std::size_t i = 0; i < 20; ++i) {
        const std::size_t at = i * 7919 % (big_size / page) * page;
        is_right = is_right && read_once(file, begin + at, page).bytes == model.big().substr(at, page);
    }
    return is_right;
}

}  // namespace

TEST_CASE("mounting reads the headers and no more, however far away the shards are") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const DistantModel model;
    CHECK(names_in(model.path("t")).size() == smalls);
    CHECK(model.asked().bytes <= 1 << 20);
}

TEST_CASE("one who reads a tensor reaches the filesystem below as one stream, and is no slower than by the shard") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const DistantModel model;
    static_cast<void>(model.asked());
    std::string bytes;
    const double through_mount = seconds([&] { bytes = read_file(model.path("big")); });
    CHECK((bytes == model.big()));
    const Asked through = model.asked();
    CHECK(through.seeks <= 3);
    CHECK(through.bytes <= big_size + (1 << 20));

    drop_from_cache(model.shard());
    const double directly = seconds([&] { bytes = read_file(model.shard()); });
    INFO(through_mount << " s through the mount, " << directly << " s directly");
    CHECK(through_mount < 1.5 * directly + 0.3);
}

TEST_CASE("so does one who scans a mapping") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const DistantModel model;
    static_cast<void>(model.asked());
    CHECK(scan(model.path("big"), model.big()));
    const Asked asked = model.asked();
    CHECK(asked.seeks <= 3);
    CHECK(asked.bytes <= big_size + (1 << 20));
}

TEST_CASE("readers of several tensors do not make each other jump") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const DistantModel model;
    static_cast<void>(model.asked());
    std::vector<std::unique_ptr<Forked>> readers;
    for (std::size_t i = 0; i < smalls; ++i) {
        readers.push_back(std::make_unique<Forked>(
            [&model, i] { return read_file(model.path("t/" + std::to_string(i))) == DistantModel::small(i) ? 0 : 1; }));
    }
    CHECK((read_file(model.path("big")) == model.big()));
    for (const auto& reader : readers) CHECK(reader->wait() == 0);
    const Asked asked = model.asked();
    CHECK(asked.seeks <= 3 * (smalls + 1));
    CHECK(asked.bytes <= big_size + smalls * small_size + (2 << 20));
}

TEST_CASE("tensors that are read one after the other, as they lie, are one stream") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const DistantModel model;
    static_cast<void>(model.asked());
    for (std::size_t i = 0; i < smalls; ++i)
        CHECK((read_file(model.path("t/" + std::to_string(i))) == DistantModel::small(i)));
    CHECK(model.asked().seeks <= 3);
}

TEST_CASE("reads at random places fetch no more through the mount than from the shard") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const DistantModel model;
    static_cast<void>(model.asked());
    CHECK(read_at_random(model, model.path("big"), 0));
    const Asked through = model.asked();
    drop_from_cache(model.shard());
    const std::size_t header = std::filesystem::file_size(model.shard()) - big_size - smalls * small_size;
    CHECK(read_at_random(model, model.shard(), header));
    const Asked directly = model.asked();
    INFO(through.bytes << " bytes through the mount, " << directly.bytes << " directly");
    CHECK(through.bytes <= directly.bytes + directly.bytes / 4);
    CHECK(through.seeks <= directly.seeks + 2);
}

TEST_CASE("a filesystem that caches nothing and cannot map is read in order, too") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const DistantModel model("seek 100 direct");
    static_cast<void>(model.asked());
    CHECK((read_file(model.path("big")) == model.big()));
    Asked asked = model.asked();
    CHECK(asked.seeks <= 3);
    CHECK(asked.bytes == big_size);
    CHECK(scan(model.path("t/0"), DistantModel::small(0)));
    asked = model.asked();
    CHECK(asked.seeks <= 3);
    CHECK(asked.bytes == small_size);
}
