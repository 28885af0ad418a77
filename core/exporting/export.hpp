#pragma once

#include <cstdint>
#include <vector>

#include "core/exporting/plan.hpp"
#include "core/exporting/target.hpp"
#include "core/exporting/watch.hpp"
#include "core/model/model.hpp"

namespace tensorfs {

/// Numbers of a tensor that became infinities, as they were too large for the type that they were converted to.
struct Overflow {
    const Tensor* tensor;
    std::uint64_t elements;
};

/// What was written.
struct Exported {
    std::uint64_t nbytes = 0;         // of all files
    std::vector<Overflow> overflows;  // of tensors that have any
};

/// Writes what is planned. All appears at once, when it is on the disk; whatever is thrown, nothing is left.
/// Takes some MiB, and what the headers need. Throws Error for what is wrong with the source, such as a shard that was
/// changed; TargetError for what is wrong with the target; ExportStopped.
Exported export_model(const Model& model, const ExportPlan& plan, const ExportTarget& target, const ExportWatch& watch);

}  // namespace tensorfs
