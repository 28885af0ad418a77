#include <fcntl.h>
#include <fmt/format.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/parallel.hpp"
#include "core/tensors/content.hpp"
#include "core/tensors/strided_tensor.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/printing/patterns.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/progress.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

/// More than there are processors: they wait for a disk, and a distant one answers many at once.
constexpr std::size_t threads = 8;

constexpr std::uint64_t chunk = 8 << 20;

/// Bytes that the kernel could use for its page cache, or 0 if it does not say.
std::uint64_t available_memory() {
    std::ifstream table("/proc/meminfo");
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t kib = 0;
        if (words >> name >> kib && name == "MemAvailable:") return kib * 1024;
    }
    return 0;
}

void say_if_too_much(std::uint64_t nbytes) {
    const std::uint64_t available = available_memory();
    if (available == 0 || nbytes <= available) return;
    complain(fmt::format("note: {} are more than the {} of memory to be had: not all of it will stay",
                         human_bytes(nbytes), human_bytes(available)));
}

void say_done(std::string_view where, std::size_t tensors, Progress& progress) {
    progress.finish();
    print(fmt::format("{}, {} {} in {:.1f} s\n", counted(tensors, "tensor"), human_bytes(progress.done()), where,
                      progress.elapsed().count()));
}

/// The bytes of its shard that a tensor needs: of a strided one, with what lies between its elements.
Slice extent_of(const Model& model, const Tensor& tensor) {
    if (!tensor.is_strided()) return {tensor.shard(), tensor.offset(), tensor.nbytes()};
    const std::uint64_t size = model.shards()[tensor.shard()].size();
    const FileRange range = extent(strided_of(tensor), size).value_or(FileRange{0, 0});
    return {tensor.shard(), range.begin, range.end - range.begin};
}

/// Loads the shards' bytes into the system's page cache.
void warm_model(const Typed& typed) {
    Model model = load_source(typed);
    model.map();
    const std::vector<std::uint32_t> selected = select_tensors(model, typed.values("PATTERN"));
    Content content;  // neighbours join, so it has few long slices
    for (const std::uint32_t i : selected) content.add(extent_of(model, model.tensors()[i]));
    say_if_too_much(content.size());

    Progress progress("warm", content.size());
    in_parallel((content.size() + chunk - 1) / chunk,
                [&](std::size_t i) {
                    std::vector<Content::Piece> pieces;
                    content.gather(i * chunk, chunk, model.shards(), pieces);
                    for (const Content::Piece& piece : pieces) {
                        piece.shard->read_ahead(piece.offset, piece.nbytes);
                        if (!piece.shard->is_unchanged() || !piece.shard->populate(piece.offset, piece.nbytes)) {
                            throw Error({Kind::SystemError,
                                         piece.shard->path(),
                                         {},
                                         "its bytes cannot be read, or it was changed meanwhile"});
                        }
                        piece.shard->let_go(piece.offset, piece.nbytes);
                        progress.add(piece.nbytes);
                    }
                },
                threads);
    say_done("in the page cache", selected.size(), progress);
}

/// The name of the tensor that a file of a mount shows, if it shows one.
std::optional<std::string> mounted_name(const std::string& path) {
    std::string name(1024, '\0');
    for (;;) {
        const ssize_t size = ::getxattr(path.c_str(), "user.tensor.name", name.data(), name.size());
        if (size >= 0) {
            name.resize(static_cast<std::size_t>(size));
            return name;
        }
        if (errno != ERANGE) return std::nullopt;
        name.resize(name.size() * 4);
    }
}

struct File {
    std::string path;
    std::uint64_t nbytes;
};

/// The files at or below a path in a mount whose tensors a pattern matches.
std::vector<File> files_below(const std::string& path, const std::vector<std::string>& patterns) {
    std::vector<File> files;
    Patterns wanted(patterns);
    const auto add = [&](const std::string& file, std::uint64_t nbytes) {
        if (patterns.empty() || wanted.select(mounted_name(file).value_or(""))) files.push_back({file, nbytes});
    };
    if (std::filesystem::is_directory(path)) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
            if (entry.is_regular_file()) add(entry.path().string(), entry.file_size());
        }
    } else {
        add(path, std::filesystem::file_size(path));
    }
    wanted.check_all_matched();
    return files;
}

void read_through(const File& file, Progress& progress) {
    const auto fail = [&] {
        throw Failure(ExitCode::unreadable,
                      fmt::format("cannot read {}: {}", printable(file.path), system_message(errno)));
    };
    const Descriptor descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor) fail();
    constexpr std::size_t block = 1 << 20;
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(block);
    for (;;) {
        const ssize_t got = ::read(descriptor.get(), buffer.get(), block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail();
        if (got == 0) return;
        progress.add(static_cast<std::uint64_t>(got));
    }
}

/// Reads files of a mount, which brings them into the mount's own page cache.
void warm_mount(const std::string& path, const std::vector<std::string>& patterns) {
    const std::vector<File> files = files_below(path, patterns);
    std::uint64_t total = 0;
    for (const File& file : files) total += file.nbytes;
    say_if_too_much(total);
    Progress progress("warm", total);
    in_parallel(
        files.size(), [&](std::size_t i) { read_through(files[i], progress); }, threads);
    say_done("in the mount's cache", files.size(), progress);
}

constexpr std::array arguments{
    Argument{
        .value = {"SOURCE", Completes::source},
        .help = "a model, as other verbs take it, or a mount of one, or a folder or file in a mount",
        .alternative = "MOUNTPOINT",
    },
    Argument{
        .value = {"PATTERN", Completes::pattern},
        .help = "load only tensors whose names match one of these, such as 'model.layers.0.*'",
        .manual = R"(With PATTERNs, which are the shell's, it loads only tensors whose names match one;
.Ql *
stands for dots, too.)",
        .is_required = false,
        .is_repeated = true,
    },
};

ExitCode run(const Typed& typed) {
    try {
        if (is_in_mount(typed.source())) {
            warm_mount(typed.source(), typed.values("PATTERN"));
        } else {
            warm_model(typed);
        }
    } catch (const std::filesystem::filesystem_error& e) {
        throw Failure(ExitCode::unreadable, printable(e.what()));
    }
    return ExitCode::ok;
}

}  // namespace

constexpr Verb warm_verb{
    .name = "warm",
    .summary = "load tensors into memory ahead of use",
    .manual = R"(Loads tensors into memory ahead of use: of a model into the page cache of its shards, of a mount, or a
folder or file in one, into the mount's cache.
It shows bytes, rate and the time left: as a bar on a terminal, else as a line every five seconds.
It is of no use for a mount with
.Cm cache=direct ,
which keeps nothing.)",
    .arguments = arguments,
    .takes = is_of_source,
    .run = run,
};

}  // namespace tensorfs
