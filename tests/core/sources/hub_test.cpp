#include "core/sources/hub.hpp"

#include <pwd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/sources/layout.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace fs = std::filesystem;

namespace {

/// The variables that tell of the cache are these and no others, as long as this lives.
class Environment {
public:
    explicit Environment(const std::map<std::string, std::string>& variables) {
        for (const char* name : names) {
            if (const char* value = std::getenv(name)) before_[name] = value;
            ::unsetenv(name);
        }
        for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    }
    ~Environment() {
        for (const char* name : names) ::unsetenv(name);
        for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    static constexpr std::array names{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"};
    std::map<std::string, std::string> before_;
};

/// A model in a cache, with a snapshot of a tensor of that many bytes.
void write_snapshot(const std::string& model, const std::string& commit, std::size_t nbytes) {
    const std::string blob = model + "/blobs/" + commit;
    write_file(blob, safetensors_file({{"t", "U8", {nbytes}, std::string(nbytes, 'x')}}));
    fs::create_directories(model + "/snapshots/" + commit);
    fs::create_symlink("../../blobs/" + commit, model + "/snapshots/" + commit + "/model.safetensors");
}

std::string refusal(const std::string& folder, const std::string& revision) {
    return kinds(problems_of([&] { hub_snapshot(folder, revision); }));
}

}  // namespace

TEST_CASE("a Hub id is a name, or an organization and a name") {
    for (const char* id : {"gpt2", "org/name", "meta-llama/Llama-3.1-8B_x", "a.b/c"}) {
        INFO(id);
        CHECK(is_hub_id(id));
    }
    for (const char* text : {"", "/", "org/", "/name", "a/b/c", "../x", "x/..", ".", "..", "a b", "a/b\n", "~/x",
                             "a\\b", "\xC3\xA9", "a:b"}) {
        INFO(text);
        CHECK_FALSE(is_hub_id(text));
    }
}

TEST_CASE("the cache is where the Hub's own library has it") {
    const std::map<std::string, std::string> all{
        {"HF_HUB_CACHE", "/1"}, {"HF_HOME", "/2"}, {"XDG_CACHE_HOME", "/3"}, {"HOME", "/4"}};
    const auto cache_without = [&](std::initializer_list<const char*> names) {
        std::map<std::string, std::string> variables = all;
        for (const char* name : names) variables.erase(name);
        const Environment environment(variables);
        return hub_cache();
    };
    CHECK(cache_without({}) == "/1");
    CHECK(cache_without({"HF_HUB_CACHE"}) == "/2/hub");
    CHECK(cache_without({"HF_HUB_CACHE", "HF_HOME"}) == "/3/huggingface/hub");
    CHECK(cache_without({"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"}) == "/4/.cache/huggingface/hub");
    CHECK(cache_without({"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"}) == "");

    const Environment environment({{"HF_HOME", "~/hf"}, {"HOME", "/4"}});
    CHECK(hub_cache() == "/4/hf/hub");
}

TEST_CASE("the old name of the cache's variable counts where the new one is not set") {
    {
        const Environment environment({{"HUGGINGFACE_HUB_CACHE", "/old"}, {"HF_HOME", "/home"}});
        CHECK(hub_cache() == "/old");
    }
    const Environment environment({{"HUGGINGFACE_HUB_CACHE", "/old"}, {"HF_HUB_CACHE", "/new"}});
    CHECK(hub_cache() == "/new");
}

TEST_CASE("variables in the cache's variables are expanded, and so is the home folder") {
    for (const auto& [name, end] : std::map<std::string, std::string>{{"HF_HUB_CACHE", ""},
                                                                      {"HUGGINGFACE_HUB_CACHE", ""},
                                                                      {"HF_HOME", "/hub"},
                                                                      {"XDG_CACHE_HOME", "/huggingface/hub"}}) {
        INFO(name);
        const auto cache_of = [&, variable = name](const std::string& value) {
            const Environment environment({{variable, value}, {"HOME", "/h"}});
            return hub_cache();
        };
        CHECK(cache_of("$HOME/c") == "/h/c" + end);
        CHECK(cache_of("${HOME}/c") == "/h/c" + end);
        CHECK(cache_of("~/c") == "/h/c" + end);
        CHECK(cache_of("~") == "/h" + end);
        CHECK(cache_of("~root") == ::getpwnam("root")->pw_dir + end);
        CHECK(cache_of("~root/$HOME") == ::getpwnam("root")->pw_dir + ("//h" + end));
        CHECK(cache_of("~no-such-user/c") == "~no-such-user/c" + end);
        CHECK(cache_of("/x${HOME}${HOME}y") == "/x/h/hy" + end);
        CHECK(cache_of("/a~b") == "/a~b" + end);
        for (const char* kept :
             {"/$", "/$$x", "/${", "/${HOME", "/${}", "/$NOT_SET_HERE/x", "/${NOT_SET_HERE}", "/$-", "/${HOME x}"}) {
            INFO(kept);
            CHECK(cache_of(kept) == kept + end);
        }
    }
}

TEST_CASE("a model's folder in the cache is named after its id") {
    CHECK(hub_folder("/cache", "org/name") == "/cache/models--org--name");
    CHECK(hub_folder("/cache", "gpt2") == "/cache/models--gpt2");
    CHECK(is_hub_folder({"blobs", "refs", "snapshots"}));
    CHECK(is_hub_folder({"blobs", "snapshots"}));
    CHECK_FALSE(is_hub_folder({"snapshots"}));
    CHECK_FALSE(is_hub_folder({"blobs", "refs"}));
    CHECK_FALSE(is_hub_folder({}));
}

TEST_CASE("a revision is a branch or tag, a commit, or the beginning of one") {
    const TemporaryFolder folder;
    const std::string model = folder / "models--o--n";
    write_snapshot(model, "abc111", 1);
    write_snapshot(model, "abd222", 2);
    write_file(model + "/refs/main", "abd222");
    write_file(model + "/refs/v1", "abc111\n");
    write_file(model + "/refs/pr/7", "abc111");
    CHECK(hub_snapshot(model, "") == model + "/snapshots/abd222");
    CHECK(hub_snapshot(model, "main") == model + "/snapshots/abd222");
    CHECK(hub_snapshot(model, "v1") == model + "/snapshots/abc111");
    CHECK(hub_snapshot(model, "pr/7") == model + "/snapshots/abc111");
    CHECK(hub_snapshot(model, "abc111") == model + "/snapshots/abc111");
    CHECK(hub_snapshot(model, "abc") == model + "/snapshots/abc111");
    CHECK(refusal(model, "ab") == "AmbiguousSource ");
    CHECK(refusal(model, "v2") == "NoSuchSource ");
}

TEST_CASE("a snapshot that is named in full is meant, though another's name begins so") {
    const TemporaryFolder folder;
    const std::string model = folder / "models--o--n";
    write_snapshot(model, "abc", 1);
    write_snapshot(model, "abcd", 2);
    write_file(model + "/refs/main", "abc");
    CHECK(refusal(model, "abc") == "");
    CHECK(refusal(model, "") == "");
}

TEST_CASE("without a main branch the only snapshot is meant") {
    const TemporaryFolder folder;
    const std::string model = folder / "models--o--n";
    write_snapshot(model, "abc", 1);
    CHECK(hub_snapshot(model, "") == model + "/snapshots/abc");
    write_snapshot(model, "def", 2);
    CHECK(refusal(model, "") == "AmbiguousSource ");
}

TEST_CASE("a ref that leads nowhere, or out of the cache, is refused") {
    const TemporaryFolder folder;
    const std::string model = folder / "models--o--n";
    write_snapshot(model, "abc", 1);
    for (const char* ref : {"fff", "", "../..", "/etc", "a/b", ".."}) {
        INFO(ref);
        write_file(model + "/refs/main", ref);
        CHECK(refusal(model, "") == "NoSuchSource ");
    }
    CHECK_FALSE(refusal(model, std::string(300, 'x')).empty());
    CHECK(refusal(folder / "none", "") == "SystemError ");
}

TEST_CASE("an id is looked up in the cache, by revision if one is given") {
    const TemporaryFolder folder;
    const Environment environment({{"HF_HUB_CACHE", folder.path().string()}});
    const std::string model = folder / "models--some-org--some-model";
    write_snapshot(model, "abc", 1);
    write_snapshot(model, "def", 2);
    write_file(model + "/refs/main", "def");
    CHECK(load("some-org/some-model").nbytes() == 2);
    CHECK(load(model).nbytes() == 2);
    CHECK(load(model + "/snapshots/abc").nbytes() == 1);
    CHECK(Model::load(find_source("some-org/some-model", {{}, "abc"})).nbytes() == 1);
    const Source source = find_source("some-org/some-model");
    CHECK(source.path == "some-org/some-model");
    CHECK(source.location == model + "/snapshots/def");
    CHECK(kinds(problems_of([] { find_source("some-org/other"); })) == "NoSuchSource ");
}
