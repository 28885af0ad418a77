#include "core/exporting/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <set>

#include "core/base/escape.hpp"
#include "core/exporting/target_error.hpp"
#include "core/sources/source.hpp"
#include "core/tensors/dtype.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/printing/patterns.hpp"
#include "fs/terminal/progress.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/terminal/stop_signals.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

[[noreturn]] void refuse(std::string text) { throw Failure(ExitCode::usage, text + " (try `tensorfs export --help`)"); }

TextMetadata metadata_of(const Typed& typed, const ExportFormat& format) {
    TextMetadata metadata;
    std::set<std::string> keys;
    for (const std::string& text : typed.values("--metadata")) {
        const std::size_t equals = text.find('=');
        if (!format.has_metadata) refuse(fmt::format("--metadata: the format {} has no metadata", format.name));
        if (equals == std::string::npos || equals == 0)
            refuse(fmt::format("--metadata \"{}\" is not KEY=VALUE", printable(text)));
        if (!is_utf8(text)) refuse(fmt::format("--metadata \"{}\" is not UTF-8", printable(text)));
        const std::string& key = metadata.emplace_back(text.substr(0, equals), text.substr(equals + 1)).first;
        if (key == quantised_key) refuse(fmt::format("--metadata: {} is what tensorfs writes itself", key));
        if (!keys.insert(key).second) refuse(fmt::format("--metadata: {} is given twice", printable(key)));
    }
    return metadata;
}

ExportOptions options_of(const Typed& typed) {
    ExportOptions options;
    if (typed.has("--format")) options.format = export_format(typed.value("--format"));
    const ExportFormat& format = *options.format;
    if (typed.has("--dtype")) {
        if (format.floats == Floats::widened) refuse(fmt::format("--dtype: the format {} says the dtype", format.name));
        options.floats = parse_dtype(typed.value("--dtype"));
    }
    if (typed.has("--max-shard-size")) {
        const std::string text = typed.value("--max-shard-size");
        options.max_shard_size = parse_bytes(text);
        if (!options.max_shard_size || *options.max_shard_size == 0)
            refuse(fmt::format("--max-shard-size \"{}\" is not a size such as 5GB or 512MiB", printable(text)));
        if (format.base.empty()) refuse(fmt::format("--max-shard-size: the format {} has no shards", format.name));
    }
    options.metadata = metadata_of(typed, format);
    return options;
}

/// Positions in Model::tensors() of what is to be written.
std::vector<std::uint32_t> selection_of(const Typed& typed, const Model& model) {
    std::vector<std::uint32_t> selected = select_tensors(model, typed.values("--include"));
    if (!typed.has("--exclude")) return selected;
    const std::vector<std::uint32_t> excluded = select_tensors(model, typed.values("--exclude"));
    std::vector<std::uint32_t> rest;
    std::set_difference(selected.begin(), selected.end(), excluded.begin(), excluded.end(), std::back_inserter(rest));
    if (rest.empty()) throw Failure(ExitCode::no_source, "--exclude leaves no tensor");
    return rest;
}

ExportTarget target_of(const Typed& typed, const Model& model) {
    ExportTarget target{typed.value("--output"), typed.has("--force"), {}};
    if (target.path.empty()) refuse("--output: TARGET is empty");
    const bool is_folder = typed.has("--max-shard-size");
    if (target.path.ends_with('/') && !is_folder)
        refuse("--output: TARGET is a folder's path, which --max-shard-size takes");
    while (target.path.size() > 1 && target.path.ends_with('/')) target.path.pop_back();
    const std::string parent = std::filesystem::path(target.path).parent_path().string();
    if (is_in_mount(target.path) || is_in_mount(parent.empty() ? "." : parent)) {
        throw Failure(ExitCode::unwritable, printable(target.path) + " is in a mount of tensorfs, which is read-only");
    }
    for (const Component& component : find_source(model.path(), load_options(typed).source).components) {
        if (!component.index_path.empty()) target.own_files.push_back(component.index_path);
    }
    return target;
}

/// Says which types stand as their bits, as NumPy lacks them.
void note_bits(const ExportPlan& plan) {
    if (plan.format->name != "npz") return;
    std::set<std::string_view> types;
    for (const FileTensor& tensor : plan.files.front().tensors) {
        if (info(tensor.dtype).numpy.empty()) types.insert(to_string(tensor.dtype));
    }
    if (types.empty()) return;
    complain(
        fmt::format("note: NumPy lacks {}: such tensors are written as their bits; --dtype F32 makes numbers of "
                    "them",
                    fmt::join(types, ", ")));
}

/// Whether numbers were lost, which is said.
bool report_overflows(const Exported& exported, Dtype dtype) {
    for (const auto& [tensor, elements] : exported.overflows) {
        complain(fmt::format("warning: {}: {} of {} are too large for {} and became infinities",
                             printable(tensor->full_name()), with_commas(elements),
                             counted(tensor->elements(), "number"), to_string(dtype)));
    }
    return !exported.overflows.empty();
}

ExitCode run(const Typed& typed) {
    const ExportOptions options = options_of(typed);
    const Model model = load_source(typed);
    const ExportPlan plan = plan_export(model, selection_of(typed, model), options);
    const ExportTarget target = target_of(typed, model);
    StopSignals signals;
    // Beyond `ulimit -f`, a write is to fail, so that what was written is removed.
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
    try {
        Progress progress("export", plan.nbytes);
        const ExportWatch watch{[&](std::uint64_t nbytes) { progress.add(nbytes); },
                                [&] { return signals.has_come(); }};
        const Exported exported = export_model(model, plan, target, watch);
        progress.finish();
        note_bits(plan);
        return options.floats && report_overflows(exported, *options.floats) ? ExitCode::bad : ExitCode::ok;
    } catch (const TargetError& e) {
        throw Failure(ExitCode::unwritable, e.what());
    } catch (const ExportStopped&) {
        signals.obey();
        throw Failure(ExitCode::internal, "stopped by a signal");  // that some tracer held back
    }
}

constexpr std::array flags{
    Flag{
        .name = "--output",
        .letter = "-o",
        .value = {"TARGET", Completes::file},
        .help = "the file to write; with --max-shard-size, the folder",
        .manual = R"(.Fl -output
or
.Fl o
names the file to write, or with
.Fl -max-shard-size
the folder.
All is written in a hidden folder
.Pa .tensorfs-export-XXXXXXXX
beside it, or in a folder that is there, and renamed once it is on the disk.
If that fails, or
.Nm
is interrupted, nothing is left; of a crash, at most that hidden folder, which is never taken for a model.)",
        .is_required = true,
    },
    Flag{
        .name = "--format",
        .value = {"FORMAT", Completes::nothing, "safetensors|safetensors-f32|pytorch|npz"},
        .help = "safetensors (the default), safetensors-f32, pytorch or npz",
        .manual = R"(.Fl -format
is
.Cm safetensors ,
.Cm safetensors-f32
or
.Cm pytorch ,
whose files are what a mount shows as
.Pa model.safetensors , model-f32.safetensors
and
.Pa pytorch_model.bin ;
or
.Cm npz ,
a NumPy archive of stored arrays like those in
.Pa npy .
Archives have the checksums of all that they hold.
A name that could lead out of a folder or holds control characters is refused as that of a member of an
.Cm npz .)",
    },
    Flag{
        .name = "--dtype",
        .value = {"DTYPE", Completes::nothing, "BF16|F16|F32"},
        .help = "BF16, F16 or F32: what floats and quantised types become",
        .manual = R"(.Fl -dtype
converts floats of up to 64 bits and quantised types to
.Cm BF16 , F16
or
.Cm F32 ,
rounded to the nearest and of two to the even one; NaN stays NaN, and other types stay what they are.
Tensors with numbers that are too large, and became infinities, are named in warnings, and the exit code is 1, though
the target is written.)",
    },
    Flag{
        .name = "--max-shard-size",
        .value = {"SIZE"},
        .help = "write a folder of shards of at most SIZE, such as 5GB or 512MiB, with an index",
        .manual = R"(.Fl -max-shard-size
writes shards of at most so many bytes of tensors
.Pq KB, MB, GB, TB, or KiB, MiB, GiB, TiB
into a folder, which is made: named, cut and indexed as
.Li huggingface_hub
does, so that its users load them.
A tensor that is larger has a shard of its own; what fits one shard is
.Pa model.safetensors
or
.Pa pytorch_model.bin ,
without an index.)",
    },
    Flag{
        .name = "--include",
        .value = {"PATTERN", Completes::pattern},
        .help = "only tensors whose full names match; may be repeated",
        .manual = R"(.Fl -include
and
.Fl -exclude
take shell patterns, in which
.Ql *
matches dots and slashes, too: of the tensors that match one of the former, those are written that match none of the
latter.
A pattern that matches nothing is an error.)",
        .is_repeated = true,
    },
    Flag{
        .name = "--exclude",
        .value = {"PATTERN", Completes::pattern},
        .help = "no tensors whose full names match; may be repeated",
        .manual = "",
        .is_repeated = true,
    },
    Flag{
        .name = "--metadata",
        .value = {"KEY=VALUE"},
        .help = "metadata to add or to replace; may be repeated",
        .manual = R"(.Fl -metadata
adds to the metadata, which are those of
.Pa model.safetensors ,
or replaces some; for safetensors only.
Transformers wants
.Ql format=pt ,
which what came from GGUF or NumPy does not have.)",
        .is_repeated = true,
    },
    Flag{
        .name = "--force",
        .help = "replace what is there, but never a file of SOURCE",
        .manual =
            R"(A target that exists is refused, unless it is an empty folder; so is one that would lie among the source's own
files, where it could be taken for the source.
.Fl -force
replaces it: a file, or those files in a folder that have the same names.
Even then, a file of the source is never replaced, nor a part of another model mixed with what is written.)",
    },
};

}  // namespace

constexpr Verb export_verb{
    .name = "export",
    .summary = "write the model as a file or a folder of shards",
    .manual = R"(Writes the model, or some of it, as a file of another or the same format, or as a folder of shards.
What a format lacks is written as in its view in
.Pa .tensorfs .
Tensors are copied by the kernel where they go as they are and the format has no checksums; what is exported twice is
the same, byte for byte.
The source must not change meanwhile, or nothing is written.)",
    .arguments = source_alone,
    .flags = flags,
    .takes = is_of_source,
    .list_flag = "-O",
    .run = run,
};

}  // namespace tensorfs
