#include <cstdlib>
#include <filesystem>

#include "core/sources/source.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace fs = std::filesystem;

// Models as the Hub's own tools leave them on a disk.

namespace {

const std::string commit = "0123456789abcdef0123456789abcdef01234567";

std::string shard_of(const std::string& tensor) { return safetensors_file({{tensor, "U8", {1}, "x"}}); }

/// A model's folder in a cache, with one snapshot of two shards and their index.
class Cache {
public:
    explicit Cache(bool has_links = true) : has_links_(has_links) {
        write_file(folder_ / "refs/main", commit);
        add("model-00001-of-00002.safetensors", shard_of("a"));
        add("model-00002-of-00002.safetensors", shard_of("b"));
        add("model.safetensors.index.json",
            index_file({{"a", "model-00001-of-00002.safetensors"}, {"b", "model-00002-of-00002.safetensors"}}));
        add("config.json", "{}");
    }
    void add(const std::string& name, const std::string& bytes) const {
        if (!has_links_) {
            write_file(snapshot() / name, bytes);
            return;
        }
        const std::string blob = "blob-of-" + name;
        write_file(folder_ / ("blobs/" + blob), bytes);
        fs::create_directories(snapshot());
        fs::create_symlink("../../blobs/" + blob, snapshot() / name);
    }
    [[nodiscard]] std::string path() const { return folder_.path().string(); }
    [[nodiscard]] fs::path snapshot() const { return folder_.path() / "snapshots" / commit; }
    [[nodiscard]] std::string operator/(std::string_view name) const { return folder_ / name; }

private:
    TemporaryFolder folder_;
    bool has_links_;
};

std::size_t tensors_in(const std::string& path) { return load(path).tensors().size(); }

std::vector<Problem> refusal(const std::string& path) {
    return problems_of([&] { load(path); });
}

/// HF_HUB_CACHE leads to a folder as long as this lives.
class HubCache {
public:
    explicit HubCache(const std::string& path) {
        if (const char* value = std::getenv("HF_HUB_CACHE")) before_ = value;
        ::setenv("HF_HUB_CACHE", path.c_str(), 1);
    }
    ~HubCache() {
        if (before_) {
            ::setenv("HF_HUB_CACHE", before_->c_str(), 1);
        } else {
            ::unsetenv("HF_HUB_CACHE");
        }
    }
    HubCache(const HubCache&) = delete;
    HubCache& operator=(const HubCache&) = delete;

private:
    std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a model in the cache is read through its links, by its folder, its snapshot or its index") {
    const Cache cache;
    CHECK(tensors_in(cache.path()) == 2);
    CHECK(tensors_in(cache.snapshot().string()) == 2);
    CHECK(tensors_in((cache.snapshot() / "model.safetensors.index.json").string()) == 2);
    CHECK(tensors_in((cache.snapshot() / "model-00001-of-00002.safetensors").string()) == 1);
    CHECK(load(cache.path()).location() == cache.snapshot());
}

TEST_CASE("a snapshot of real files is read as one of links is") {
    const Cache cache(false);
    CHECK(tensors_in(cache.path()) == 2);
    CHECK(tensors_in(cache.snapshot().string()) == 2);
}

TEST_CASE("what the Hub's tools keep for themselves is no part of a model") {
    const Cache cache;
    write_file(cache / (".no_exist/" + commit + "/adapter_model.safetensors"), "");
    write_file(cache / "blobs/1234.incomplete", "half a shard");
    write_file(cache / ".locks/1234.lock", "");
    cache.add("model-00003-of-00003.safetensors.incomplete", "half a shard");
    cache.add("model-00003-of-00003.safetensors.lock", "");
    CHECK(tensors_in(cache.path()) == 2);
    CHECK(load(cache.path()).notes().empty());
}

TEST_CASE("a link to a blob that is not there is a missing shard, by the name that it has in the snapshot") {
    const Cache cache;
    fs::remove(cache / "blobs/blob-of-model-00002-of-00002.safetensors");
    const auto problems = refusal(cache.path());
    REQUIRE(kinds(problems) == "MissingShard ");
    CHECK(problems[0].path == cache.snapshot() / "model-00002-of-00002.safetensors");
}

TEST_CASE("a link that leads to itself is refused as a shard, an index and a snapshot") {
    const Cache cache;
    const auto point_at_itself = [&](const std::string& name) {
        fs::remove(cache.snapshot() / name);
        fs::create_symlink(name, cache.snapshot() / name);
    };
    point_at_itself("model-00002-of-00002.safetensors");
    CHECK(kinds(refusal(cache.path())) == "SystemError ");
    point_at_itself("model.safetensors.index.json");
    CHECK(kinds(refusal(cache.path())) == "SystemError ");
    fs::remove_all(cache.snapshot());
    fs::create_symlink(commit, cache.snapshot());
    CHECK(kinds(refusal(cache.path())) == "SystemError ");
    fs::remove(cache.snapshot());
    fs::create_symlink("..", cache.snapshot());  // the model's folder, again and again
    CHECK_FALSE(refusal(cache.path()).empty());
}

TEST_CASE("a revision that cannot be a file's name is refused as any other that is not there") {
    const Cache cache;
    for (const std::string& revision : {std::string(300, 'r'), std::string("a\0b", 3), std::string("../../x")}) {
        INFO(revision.size());
        CHECK_FALSE(problems_of([&] { find_source(cache.path(), {{}, revision}); }).empty());
    }
}

TEST_CASE("an id that is too long for the cache, or a cache that cannot be looked at, is an error like others") {
    const TemporaryFolder folder;
    fs::create_symlink("loop", folder / "loop");
    {
        const HubCache cache(folder.path().string());
        CHECK_FALSE(refusal("org-" + std::string(246, 'x')).empty());
    }
    const HubCache cache(folder / "loop");
    CHECK_FALSE(refusal("some-org/some-model").empty());
}

TEST_CASE("a download into a folder is read like any folder, and .cache in it is passed over") {
    const TemporaryFolder folder;
    write_file(folder / "model.safetensors", shard_of("t"));
    write_file(folder / "config.json", "{}");
    write_file(folder / ".gitattributes", "*.safetensors filter=lfs");
    write_file(folder / ".cache/huggingface/download/model.safetensors.metadata", commit);
    write_file(folder / ".cache/huggingface/download/model.safetensors.lock", "");
    write_file(folder / ".cache/huggingface/download/other.safetensors", "half");
    const Model model = load(folder.path().string());
    CHECK(model.tensors().size() == 1);
    CHECK(model.notes().empty());
    fs::remove(folder / "model.safetensors");
    CHECK(kinds(refusal(folder.path().string())) == "NotAModel ");
}

TEST_CASE("a pipeline in the cache is a pipeline") {
    const TemporaryFolder folder;
    const std::string snapshot = folder / ("snapshots/" + commit);
    write_file(folder / "refs/main", commit);
    write_file(snapshot + "/model_index.json", "{}");
    for (const std::string component : {"unet", "vae"}) {
        write_file(folder / ("blobs/" + component), shard_of("w"));
        fs::create_directories(snapshot + "/" + component);
        fs::create_symlink("../../../blobs/" + component,
                           snapshot + "/" + component + "/diffusion_pytorch_model.safetensors");
    }
    const Model model = load(folder.path().string());
    REQUIRE(model.tensors().size() == 2);
    CHECK(model.tensors()[0].full_name() == "unet/w");
    CHECK(model.tensors()[1].full_name() == "vae/w");
}
