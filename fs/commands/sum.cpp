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
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/options/option_list.hpp"
#include "fs/terminal/failure.hpp"
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

ExitCode run(const Typed& typed) {
    MountOptions options;  // as for a mount, since the paths are the mount's
    for (const std::string& list : typed.option_lists()) apply_option_list(options, list);
    Model model = Model::load(find_source(typed.source(), options.load.source), options.load.on_problem);
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

}  // namespace

constexpr Verb sum_verb{
    .name = "sum",
    .summary = "checksums that `sha256sum -c` checks in the mount",
    .manual = R"(Prints SHA-256 checksums with the paths that the tensors have in a mount, so that
.Ql sha256sum -c
can check them there.
It reads all bytes, in parallel.
For a mount with
.Cm separators= ,
give it the same option, or that mount's whole list.)",
    .arguments = source_alone,
    .takes = [](const MountOption& option) { return option.is_of_source || option.name == "separators"; },
    .about_options =
        "A mount's other options are taken, too, so that its list can be given as it is; they change "
        "nothing.",
    .run = run,
};

}  // namespace tensorfs
