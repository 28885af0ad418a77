#include "fs/daemon/reloader.hpp"

#include <poll.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "fs/serving/model_switch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// A kernel that knows what it is said to know, and writes down what it is told.
class FakeKernel final : public KernelCache {
public:
    void forget_root() override { log("root"); }
    bool knows(std::uint64_t node_id) override {
        const std::lock_guard lock(mutex_);
        return known.count(node_id) != 0;
    }
    void forget_name(std::uint64_t folder, std::string_view name) noexcept override {
        if (at_name) at_name();
        log((folder == 1 ? "" : std::to_string(folder) + "/") + std::string(name));
    }

    std::set<std::uint64_t> known;
    std::vector<std::string> told;
    std::function<void()> at_name;

private:
    void log(std::string what) {
        const std::lock_guard lock(mutex_);
        told.push_back(std::move(what));
    }

    std::mutex mutex_;
};

/// A mount without a mount: a source, what callbacks would answer from, and a reloader.
class Mount {
public:
    Mount() {
        write({"a", "b.c"});
        options.source = source();
        served.generations.show(std::make_shared<Generation>(load(source()), options, 0));
    }
    void write(const std::vector<std::string>& names) {
        std::vector<Sample> samples;
        for (const std::string& name : names) samples.push_back({name, "U8", {1}, "x"});
        replace(safetensors_file(samples));
    }
    void replace(const std::string& bytes) {
        write_file(source() + ".new", bytes);
        std::filesystem::rename(source() + ".new", source());
    }
    /// Waits until the thread is done.
    bool end() {
        pollfd finished{reloader.finished().get(), POLLIN, 0};
        REQUIRE(::poll(&finished, 1, 30'000) == 1);
        return reloader.end();
    }
    void reload() {
        reloader.reload();
        REQUIRE(end());
    }
    [[nodiscard]] bool shows(const std::string& name) const {
        return find_tensor(served.generations.current()->volume.model(), name) != nullptr;
    }
    [[nodiscard]] std::string source() const { return folder_ / "model.safetensors"; }

private:
    TemporaryFolder folder_;

public:
    MountOptions options;
    Served served{options};
    FakeKernel kernel;
    Reloader reloader{options, served, kernel};
};

}  // namespace

TEST_CASE("a reload shows the new model, and counts") {
    Mount mount;
    mount.write({"d"});
    mount.reload();
    CHECK(mount.shows("d"));
    CHECK_FALSE(mount.shows("a"));
    CHECK(mount.served.reloads == 1);
    CHECK(mount.served.failed_reloads == 0);
    CHECK(mount.served.generations.size() == 1);
    CHECK(mount.served.generations.current()->serial() == 1);
    CHECK_FALSE(mount.reloader.is_busy());
}

TEST_CASE("a reload of an unchanged source tells the kernel nothing") {
    Mount mount;
    mount.reload();
    CHECK(mount.served.reloads == 0);
    CHECK(mount.served.failed_reloads == 0);
    CHECK(mount.kernel.told.empty());
}

TEST_CASE("a reload that fails leaves the model and says why, until one succeeds") {
    Mount mount;
    mount.replace("short");
    mount.reload();
    CHECK(mount.shows("a"));
    CHECK(mount.served.failed_reloads == 1);
    CHECK(contains(mount.served.last_failure.get(), "HeaderTooSmall"));
    CHECK(mount.kernel.told.empty());
    mount.write({"d"});
    mount.reload();
    CHECK(mount.shows("d"));
    CHECK(mount.served.last_failure.get().empty());
}

TEST_CASE("the kernel forgets the names it has: what it knows of the old root, and what it was denied of the new") {
    Mount mount;
    const std::shared_ptr<Generation> old = mount.served.generations.current();
    const Inode b = old->volume.lookup(Inode{}, "b")->inode;
    mount.kernel.known = {old->node_id(b)};
    mount.served.negative_names.add("e");
    mount.served.negative_names.add("f");
    mount.write({"d", "e"});
    mount.reload();
    CHECK(mount.kernel.told == std::vector<std::string>{"root", ".tensorfs", "b", "e", "root"});
}

TEST_CASE("while the kernel is told, the new model is shown and listings are short") {
    Mount mount;
    bool is_shown = false;
    bool is_short = false;
    mount.kernel.at_name = [&] {
        is_shown = mount.shows("d");
        is_short = mount.served.is_forgetting_root;
    };
    mount.write({"d"});
    mount.reload();
    CHECK(is_shown);
    CHECK(is_short);
    CHECK_FALSE(mount.served.is_forgetting_root);
}

TEST_CASE("a request that resolved the root before the reload may still raise its model's lookup count") {
    Mount mount;
    const std::shared_ptr<Generation> old = mount.served.generations.current();
    old->add_lookups(1);
    mount.kernel.at_name = [&] {
        if (mount.served.generations.size() == 1) return;
        mount.served.generations.forget({0, {View::raw, 1}}, 1);  // its count is 0 for a moment
        old->add_lookups(1);                                      // and that request is answered
    };
    mount.write({"d"});
    mount.reload();
    CHECK(mount.served.generations.of({0, {View::raw, 1}}) == old);
}

TEST_CASE("what nobody uses of old models is forgotten below the root, where the kernel knows the folder") {
    Mount mount;
    const std::shared_ptr<Generation> old = mount.served.generations.current();
    const std::uint64_t b = old->node_id(old->volume.lookup(Inode{}, "b")->inode);
    old->add_lookups(2);
    mount.write({"d"});
    mount.reload();
    CHECK(mount.served.generations.size() == 2);
    mount.kernel.told.clear();
    mount.kernel.known = {b};
    mount.kernel.at_name = [&] { mount.served.generations.forget({0, {View::raw, 1}}, 2); };
    mount.reloader.forget_old_models();
    CHECK_FALSE(mount.end());
    CHECK(mount.kernel.told == std::vector<std::string>{std::to_string(b) + "/c"});
    CHECK(mount.served.generations.size() == 1);
}

TEST_CASE("reloads that are asked for during a reload are one more, which sees what was there when they were") {
    Mount mount;
    std::mutex telling;
    mount.kernel.at_name = [&] { const std::lock_guard lock(telling); };
    mount.write({"d"});
    {
        const std::lock_guard hold(telling);
        mount.reloader.reload();
        while (!mount.shows("d")) std::this_thread::yield();
        mount.write({"e"});
        mount.reloader.reload();
        mount.reloader.reload();
        mount.reloader.forget_old_models();  // busy: the next time
    }
    CHECK_FALSE(mount.end());
    CHECK(mount.reloader.is_busy());
    CHECK(mount.end());
    CHECK(mount.shows("e"));
    CHECK(mount.served.reloads == 2);
    CHECK_FALSE(mount.reloader.is_busy());
}
