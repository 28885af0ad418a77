#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <vector>

#include "core/base/escape.hpp"
#include "core/base/parallel.hpp"
#include "core/model/tree.hpp"
#include "core/tensors/content.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "fs/commands/help.hpp"
#include "fs/commands/parse.hpp"
#include "fs/options/options.hpp"
#include "fs/terminal/progress.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

struct FreeContext {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

std::string sha256(const Model& model, const Tensor& tensor, Progress& progress) {
    constexpr std::uint64_t block = 256 << 10;
    const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
    const auto check = [](int result) {
        if (result != 1) throw Failure(ExitCode::internal, "the library for checksums failed");
    };
    check(context ? EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) : 0);
    const Content content = raw_view(tensor);
    std::vector<std::byte> buffer;
    for (std::uint64_t at = 0; at < content.size(); at += buffer.size()) {
        buffer.resize(std::min(block, content.size() - at));
        read_range(content, at, buffer, model.shards());
        check(EVP_DigestUpdate(context.get(), buffer.data(), buffer.size()));
        progress.add(buffer.size());
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    check(EVP_DigestFinal_ex(context.get(), digest.data(), &size));
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
}

/// A line as sha256sum writes it. A path in a mount holds no line's end, but may hold a backslash.
std::string line(const std::string& digest, const std::string& path) {
    std::string escaped = path == "-" ? "./" : "";  // "-" by itself would mean standard input
    const std::size_t added = escaped.size();
    for (const char c : path) {
        if (c == '\\') escaped += '\\';
        escaped += c;
    }
    return fmt::format("{}{}  {}\n", escaped.size() == path.size() + added ? "" : "\\", digest, escaped);
}

}  // namespace

ExitCode run_sum(const Arguments& arguments) {
    SourceArguments source;
    const auto app = make_app("sum");
    source.add_to(*app);
    app->footer(
        option_help([](const MountOption& o) { return o.is_of_source || o.name == "separators"; }) +
        "A mount's other options are taken, too, so that its list can be given as it is;\nthey change nothing.\n");
    if (!parse(*app, arguments)) return ExitCode::ok;

    MountOptions options;  // as for a mount, since the paths are the mount's
    for (const std::string& list : source.lists) apply_option_list(options, list);
    Model model = Model::load(find_source(source.path, options.load.source), options.load.on_problem);
    model.map();
    const Tree tree(model, options.separators);
    std::vector<Tree::Position> files;  // in the order of the tree
    for (Tree::Position node = 0; node < tree.size(); ++node) {
        if (!tree.is_folder(node)) files.push_back(node);
    }
    std::vector<std::string> digests(files.size());
    {
        Progress progress("sum", model.nbytes());
        in_parallel(files.size(), [&](std::size_t i) {
            digests[i] = sha256(model, model.tensors()[tree.tensor(files[i])], progress);
        });
    }
    // A path can hold what a terminal obeys; a program that checks needs it as it is.
    const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
    std::string text;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string path = tree.path(files[i]);
        text += line(digests[i], is_terminal ? printable(path) : path);
    }
    print(text);
    return ExitCode::ok;
}

}  // namespace tensorfs
