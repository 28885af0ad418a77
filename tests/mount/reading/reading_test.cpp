// Reading tensors in every way that a program may.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

/// Several requests long, and neither it nor its neighbours begin or end at a page.
constexpr std::size_t big_size = 5 * 1024 * 1024 + 4321;

/// A model with a big tensor in the middle, mounted.
class Served {
public:
    Served() {
        write_file(folder_ / "model.safetensors", safetensors_file({{"before", "U8", {777}, sample_bytes(777, 1)},
                                                                    {"big", "U8", {big_size}, big_},
                                                                    {"empty", "F32", {0, 3}, ""},
                                                                    {"scalar", "F32", {}, "\x01\x02\x03\x04"},
                                                                    {"after", "U8", {9}, "behind it"}}));
        mount_.emplace(folder_ / "model.safetensors");
    }

    [[nodiscard]] const std::string& big() const { return big_; }
    [[nodiscard]] std::string path(std::string_view name) const { return *mount_ / name; }
    [[nodiscard]] tensorfs::Descriptor open(std::string_view name, int flags = 0) const {
        tensorfs::Descriptor file(::open(path(name).c_str(), O_RDONLY | O_CLOEXEC | flags));
        REQUIRE(file.get() >= 0);
        return file;
    }

private:
    std::string big_ = sample_bytes(big_size, 2);
    TemporaryFolder folder_;
    std::optional<Mounted> mount_;
};

/// What one pread gives.
std::string read_at(const tensorfs::Descriptor& file, std::size_t size, std::size_t offset) {
    std::string bytes(size, '?');
    const ssize_t got = ::pread(file.get(), bytes.data(), size, static_cast<off_t>(offset));
    if (got < 0) throw std::runtime_error("cannot read");
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

/// Reads at `count` random places and compares. False at the first difference.
bool random_reads_agree(const tensorfs::Descriptor& file, const std::string& expected, unsigned seed, int count) {
    std::minstd_rand random(seed);
    for (int i = 0; i < count; ++i) {
        const std::size_t offset = random() % expected.size();
        const std::size_t size = 1 + random() % (i % 2 == 0 ? 100 : 3'000'000);
        if (read_at(file, size, offset) != expected.substr(offset, size)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("a tensor of many requests reads whole, and its neighbours are not in it") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    CHECK((read_file(served.path("big")) == served.big()));
    CHECK((read_at(served.open("big"), 2 * big_size, 0) == served.big()));
    CHECK((read_file(served.path("before")) == sample_bytes(777, 1)));
    CHECK(read_file(served.path("after")) == "behind it");
}

TEST_CASE("reads of any size at any offset give just these bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    CHECK(random_reads_agree(served.open("big"), served.big(), 1, 300));
}

TEST_CASE("a read that begins at the end or behind it gives nothing, one across the end what there is") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    for (const int flags : {0, O_DIRECT}) {
        const auto file = served.open("big", flags);
        CHECK(read_at(file, 4096, big_size).empty());
        CHECK(read_at(file, 4096, big_size + 1).empty());
        CHECK(read_at(file, 4096, big_size + (1ULL << 40)).empty());
        CHECK(read_at(file, 4096, big_size - 5) == served.big().substr(big_size - 5));
    }
}

TEST_CASE("an empty tensor reads as nothing and a scalar as its element") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    for (const int flags : {0, O_DIRECT}) {
        CHECK(read_at(served.open("empty", flags), 4096, 0).empty());
        CHECK(read_at(served.open("scalar", flags), 4096, 0) == "\x01\x02\x03\x04");
    }
}

TEST_CASE("direct reads are right at any alignment") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    const auto file = served.open("big", O_DIRECT);
    CHECK((read_at(file, 2 * big_size, 0) == served.big()));
    CHECK(random_reads_agree(file, served.big(), 2, 100));
}

TEST_CASE("shared and private maps show the tensor, and zeros from its end to the page's") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    for (const int kind : {MAP_SHARED, MAP_PRIVATE}) {
        const auto file = served.open("big");
        void* const map = ::mmap(nullptr, big_size, PROT_READ, kind, file.get(), 0);
        REQUIRE(map != MAP_FAILED);
        const std::string_view seen(static_cast<const char*>(map), big_size);
        CHECK((seen == served.big()));
        const std::size_t rest = 4096 - big_size % 4096;
        CHECK(std::string_view(seen.data() + big_size, rest) == std::string(rest, '\0'));
        ::munmap(map, big_size);
    }
    // A private map may be written to, and the file stays as it is.
    const auto file = served.open("scalar");
    void* const map = ::mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
    REQUIRE(map != MAP_FAILED);
    static_cast<char*>(map)[0] = '!';
    CHECK(read_at(file, 4, 0) == "\x01\x02\x03\x04");
    ::munmap(map, 4);
}

TEST_CASE("sendfile sends a tensor to a socket") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    tensorfs::Descriptor to(ends[0]);
    const tensorfs::Descriptor from(ends[1]);
    const auto file = served.open("big");
    off_t sent = 0;
    std::thread sender([&] {
        while (::sendfile(to.get(), file.get(), &sent, big_size) > 0) {
        }
        to.reset();
    });
    std::string received;
    std::string part(65536, '\0');
    for (ssize_t got = 0; (got = ::read(from.get(), part.data(), part.size())) > 0;)
        received.append(part, 0, static_cast<std::size_t>(got));
    sender.join();
    CHECK((received == served.big()));
}

TEST_CASE("copy_file_range copies a tensor, or says that it cannot and lets cp fall back") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    const TemporaryFolder folder;
    const tensorfs::Descriptor to(::open((folder / "range").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const auto file = served.open("big");
    ssize_t got = 0;
    while ((got = ::copy_file_range(file.get(), nullptr, to.get(), nullptr, big_size, 0)) > 0) {
    }
    if (got == 0) {
        CHECK((read_file(folder / "range") == served.big()));
    } else {
        CHECK(errno == EXDEV);
    }
    CHECK(run({"cp", served.path("big"), folder / "copy"}).code == 0);
    CHECK((read_file(folder / "copy") == served.big()));
}

TEST_CASE("eight threads that read one tensor all get its bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    for (const int flags : {0, O_DIRECT}) {
        const auto file = served.open("big", flags);
        std::atomic<int> good{0};
        std::vector<std::thread> readers;
        for (unsigned seed = 0; seed < 8; ++seed)
            readers.emplace_back([&, seed] { good += random_reads_agree(file, served.big(), seed, 50) ? 1 : 0; });
        for (std::thread& reader : readers) reader.join();
        CHECK(good == 8);
    }
}
