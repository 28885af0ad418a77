#include "core/exporting/export.hpp"

#include <fmt/format.h>

#include <span>

#include "core/base/escape.hpp"
#include "core/exporting/copy.hpp"
#include "core/exporting/stage.hpp"
#include "core/exporting/target_error.hpp"

namespace tensorfs {
namespace {

ModelFile make(const ExportPlan& plan, const PlannedFile& planned, const ExportTarget& target,
               const ChecksumOf& checksum_of) {
    std::optional<ModelFile> file = plan.format->make(planned.tensors, plan.metadata, checksum_of, target.path);
    if (file) return std::move(*file);
    throw TargetError(fmt::format("{}: so many names and metadata are more than the header of a file may hold{}",
                                  printable(target.path), plan.is_folder() ? "" : "; --max-shard-size makes several"));
}

void write_file(const Model& model, const ExportPlan& plan, const PlannedFile& planned, const ExportTarget& target,
                Stage& stage, const ExportWatch& watch, Exported& exported) {
    const bool has_checksums = plan.format->has_checksums;
    ModelFile file = make(plan, planned, target, [](std::size_t) { return std::nullopt; });
    const OutputFile out = stage.create(planned.name.empty() ? "model" : planned.name);
    out.reserve(file.content.size());
    const Copied copied = copy_tensors(file, model.shards(), out, has_checksums, watch);
    for (std::size_t i = 0; i < copied.overflows.size(); ++i) {
        if (copied.overflows[i] != 0) exported.overflows.push_back({file.places[i].tensor.tensor, copied.overflows[i]});
    }
    // Where they are known now, the same file with them: they have their places whatever they are.
    if (has_checksums) file = make(plan, planned, target, [&](std::size_t i) { return copied.checksums[i]; });
    write_made(file, out);
    out.sync();
    exported.nbytes += file.content.size();
}

}  // namespace

Exported export_model(const Model& model, const ExportPlan& plan, const ExportTarget& target,
                      const ExportWatch& watch) {
    Stage stage(target.path, check_target(model, plan, target));
    stage.check_space(plan.nbytes);
    Exported exported;
    for (const PlannedFile& planned : plan.files) write_file(model, plan, planned, target, stage, watch, exported);
    if (!plan.index_name.empty()) {
        const OutputFile out = stage.create(plan.index_name);
        out.write(0, std::as_bytes(std::span(plan.index)));
        out.sync();
        exported.nbytes += plan.index.size();
    }
    for (const Shard& shard : model.shards()) {
        if (!shard.is_unchanged())
            throw Error({Kind::SystemError, shard.path(), {}, "it was changed while it was read"});
    }
    if (watch.is_stopped()) throw ExportStopped();
    stage.publish(target.may_replace);
    return exported;
}

}  // namespace tensorfs
