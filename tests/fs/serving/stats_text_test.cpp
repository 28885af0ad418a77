#include "fs/serving/stats_text.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "fs/serving/served.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// What a mount of one tensor answers from.
struct SmallMount {
    TemporaryFolder folder;
    MountOptions options;
    Served served{options};

    SmallMount() {
        write_file(folder / "model.safetensors", safetensors_file({{"w", "U8", {4}, "abcd"}}));
        served.generations.show(std::make_shared<Generation>(load(folder.path().string()), options, 0));
    }
    [[nodiscard]] std::string text(std::size_t size) { return served.stats_text.to_fit(stats_text(served), size); }
};

int requests(const std::string& text) { return nlohmann::json::parse(text).at("requests").at("getxattr"); }

}  // namespace

TEST_CASE("the statistics are one line") {
    CHECK(stats_text(SmallMount().served).find('\n') == std::string::npos);
}

TEST_CASE("whoever guesses the size without measuring gets all of it, not what nobody measured") {
    CHECK(SmallMount().text(128).size() > 128);
}

TEST_CASE("what getxattr measured fits when it is fetched, though the counters have moved on") {
    SmallMount mount;
    const std::size_t size = mount.text(0).size();
    for (int i = 0; i < 12345; ++i) mount.served.stats.count(Request::getxattr);
    mount.served.stats.count_bytes(Request::getxattr, std::uint64_t{1} << 60);  // longer, whatever memory is by then
    REQUIRE(stats_text(mount.served).size() > size);
    const std::string fetched = mount.text(size);
    CHECK(fetched.size() <= size);
    CHECK(requests(fetched) == 0);
    CHECK(requests(mount.text(1 << 16)) == 12345);
}
