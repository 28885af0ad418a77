#pragma once

#include <string>
#include <vector>

#include "core/exporting/plan.hpp"
#include "core/exporting/stage.hpp"
#include "core/model/model.hpp"

namespace tensorfs {

/// Where an export is to go.
struct ExportTarget {
    std::string path;
    bool may_replace = false;            // what is there
    std::vector<std::string> own_files;  // the source's besides the shards, such as its index
};

/// Looks at a target before anything is written, and says what it is. Throws TargetError:
///  - if something is there, unless it may be replaced; but an empty folder is filled;
///  - if it is a file of the source by whatever name, such as a link to a shard: whether it may be replaced or not;
///  - if it is neither file nor folder, or a folder where a file is to be, or the other way round;
///  - if it would lie in the source's own folder under a name by which a model is found there, so that the source would
///    be another one from then on, unless it may replace things;
///  - if the folder holds parts of another model that would be mixed with these.
Stage::Target check_target(const Model& model, const ExportPlan& plan, const ExportTarget& target);

}  // namespace tensorfs
