#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

namespace tensorfs::tests {

inline constexpr std::size_t weight_size = 3'000'000;

/// What a version's tensor holds: the same letter throughout.
inline std::string weight_of(char version) { return std::string(weight_size, version); }

/// A model that has versions: each has `model.weight` full of its letter, a tensor named after it, and `common`.
/// The source is a link that leads to one of them.
class Versions {
public:
    Versions() {
        for (const char version : {'1', '2', '3'}) {
            write_file(folder(version) + "/model.safetensors",
                       safetensors_file({{"model.weight", "U8", {weight_size}, weight_of(version)},
                                         {std::string("only") + version, "U8", {1}, std::string(1, version)},
                                         {"common", "U8", {1}, std::string(1, version)}},
                                        std::string(R"({"version":")") + version + "\"}"));
        }
        choose('1');
    }
    /// Lets the source be another version, in one step.
    void choose(char version) const {
        std::filesystem::create_symlink(folder(version), source() + ".new");
        std::filesystem::rename(source() + ".new", source());
    }
    [[nodiscard]] std::string folder(char version) const { return folder_ / (std::string("v") + version); }
    [[nodiscard]] std::string source() const { return folder_ / "current"; }

private:
    TemporaryFolder folder_;
};

inline nlohmann::json stats_of(const Mounted& mount) {
    return nlohmann::json::parse(get_xattr(mount.path(), "user.tensorfs.stats").value());
}
inline int models_held(const Mounted& mount) { return stats_of(mount).at("models").at("held"); }

/// Sends SIGHUP and waits until the source was looked at.
inline void reload(Mounted& mount, const std::string& outcome = "reloads") {
    const int before = stats_of(mount).at("models").at(outcome);
    mount.daemon().signal(SIGHUP);
    REQUIRE(eventually([&] { return stats_of(mount).at("models").at(outcome) == before + 1; }));
}

inline tensorfs::Descriptor open_file(const std::string& path, int flags = 0) {
    tensorfs::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
    REQUIRE(file);
    return file;
}

inline std::string read_all(const tensorfs::Descriptor& file) {
    std::string bytes(weight_size + 1, '\0');
    std::size_t got = 0;
    while (const ssize_t more = ::pread(file.get(), bytes.data() + got, bytes.size() - got, static_cast<off_t>(got))) {
        if (more < 0) return "cannot be read";
        got += static_cast<std::size_t>(more);
    }
    bytes.resize(got);
    return bytes;
}

/// Sees all there is of a model: the kernel then keeps it.
inline void see_everything(const Mounted& mount, char version) {
    std::vector<std::string> names{"common", "model", std::string("only") + version};
    CHECK(names_in(mount.path()) == names);
    CHECK(read_file(mount / "model/weight") == weight_of(version));
    CHECK(read_file(mount / "common") == std::string(1, version));
    CHECK(read_file(mount / ".tensorfs/flat/model.weight") == weight_of(version));
    CHECK(read_file(mount / ".tensorfs/npy/common.npy").ends_with(version));
    CHECK(read_file(mount / ".tensorfs/metadata.json").find(std::string("\"") + version + "\"") != std::string::npos);
    CHECK(get_xattr(mount.path(), "user.model.metadata.version") == std::string(1, version));
    CHECK(read_file(mount / (std::string("only") + version)) == std::string(1, version));
    for (const char other : {'1', '2', '3'}) {
        if (other != version) CHECK_FALSE(std::filesystem::exists(mount / (std::string("only") + other)));
    }
}

}  // namespace tensorfs::tests
