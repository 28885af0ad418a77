#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/escape.hpp"
#include "core/base/json_text.hpp"
#include "core/formats/safetensors/safetensors.hpp"
#include "core/model/model.hpp"
#include "core/views/listings.hpp"
#include "core/views/merged.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/mount_info.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

struct Sums {
    std::uint64_t tensors = 0;
    std::uint64_t parameters = 0;  // elements
    std::uint64_t nbytes = 0;
};

using SumsByDtype = std::array<Sums, dtype_count>;

SumsByDtype sum_up(const Model& model) {
    SumsByDtype all{};
    for (const Tensor& tensor : model.tensors()) {
        Sums& sums = all[static_cast<std::size_t>(tensor.dtype())];
        ++sums.tensors;
        sums.parameters += tensor.elements();
        sums.nbytes += tensor.nbytes();
    }
    return all;
}

std::string_view dtype_name(std::size_t i) { return to_string(static_cast<Dtype>(i)); }

/// A value in few words.
std::string shown(const MetadataValue& value) {
    return std::holds_alternative<NotKept>(value) ? "(not shown: see --json)" : to_string(value);
}

/// Metadata key and value to how many shards have them, in the order of the keys.
std::map<std::pair<std::string, std::string>, std::size_t> count_metadata(const Model& model) {
    std::map<std::pair<std::string, std::string>, std::size_t> counts;
    for (const Metadata& metadata : model.metadata()) {
        for (const auto& [key, value] : metadata) ++counts[{key, shown(value)}];
    }
    return counts;
}

/// The model's notes, and what a mount of it lacks.
std::vector<std::string> notes_of(const Model& model) {
    std::vector<std::string> notes = model.notes();
    for (const Model::Call& call : model.calls())
        notes.push_back(fmt::format("{}: unpickling it would call {}", model.shard_name(call.shard), call.name));
    if (const std::uint64_t size = merged_header_size(model); size > safetensors::max_header_size) {
        notes.push_back(
            fmt::format("a mount has no .tensorfs/model.safetensors: its header would have {} bytes, more than "
                        "the format's {}",
                        with_commas(size), with_commas(safetensors::max_header_size)));
    }
    return notes;
}

/// How many bits a weight takes on average; 0 where there is none.
double bits_each(std::uint64_t parameters, std::uint64_t nbytes) {
    return parameters == 0 ? 0 : 8 * static_cast<double>(nbytes) / static_cast<double>(parameters);
}

void print_text(const Model& model) {
    std::string text = fmt::format(
        "source      {}\nformat      {}\nshards      {}\ntensors     {}\nparameters  {}\nbytes       {} ({})\n",
        printable(model.location()), model.format_names(), with_commas(model.shards().size()),
        with_commas(model.tensors().size()), with_commas(model.parameters()), with_commas(model.nbytes()),
        human_bytes(model.nbytes()));
    if (model.parameters() != 0)
        text += fmt::format("bits each   {:.4g}\n", bits_each(model.parameters(), model.nbytes()));
    const SumsByDtype sums = sum_up(model);
    text +=
        fmt::format("\n{:<11} {:>11} {:>19} {:>19} {:>9}\n", "dtype", "tensors", "parameters", "bytes", "bits each");
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i].tensors == 0) continue;
        text += fmt::format("{:<11} {:>11} {:>19} {:>19} {:>9.4g}\n", dtype_name(i), with_commas(sums[i].tensors),
                            with_commas(sums[i].parameters), with_commas(sums[i].nbytes),
                            bits_each(sums[i].parameters, sums[i].nbytes));
    }
    const auto counts = count_metadata(model);
    if (!counts.empty()) text += "\nmetadata\n";
    for (const auto& [item, count] : counts) {
        text += fmt::format("  {} = {}", printable(item.first), printable(item.second));
        if (count != model.shards().size()) text += fmt::format("  (in {} of {} shards)", count, model.shards().size());
        text += '\n';
    }
    const std::vector<std::string> notes = notes_of(model);
    if (!notes.empty()) text += '\n';
    for (const std::string& note : notes) text += fmt::format("note: {}\n", printable(note));
    if (!model.problems().empty())
        text += fmt::format("\nleft out, because of {}\n", counted(model.problems().size(), "problem"));
    for (const Problem& problem : model.problems()) text += fmt::format("  {}\n", to_string(problem));
    print(text);
}

void print_json(const Model& model) {
    nlohmann::ordered_json dtypes = nlohmann::ordered_json::object();
    const SumsByDtype sums = sum_up(model);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i].tensors == 0) continue;
        dtypes[std::string(dtype_name(i))] = {
            {"tensors", sums[i].tensors}, {"parameters", sums[i].parameters}, {"nbytes", sums[i].nbytes}};
    }
    nlohmann::ordered_json shards = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < model.shards().size(); ++i) {
        shards.push_back({{"name", model.shard_name(i)}, {"nbytes", model.shards()[i].size()}});
    }
    const nlohmann::ordered_json all{
        {"source", model.location()},        {"format", model.format_names()},
        {"tensors", model.tensors().size()}, {"parameters", model.parameters()},
        {"nbytes", model.nbytes()},          {"dtypes", std::move(dtypes)},
        {"shards", std::move(shards)},       {"metadata", nlohmann::ordered_json::parse(metadata_json(model))},
        {"notes", notes_of(model)},          {"problems", nlohmann::ordered_json::parse(problems_json(model))},
    };
    print(json_text(all, 2) + "\n");
}

constexpr std::array arguments{
    Argument{
        .value = {"SOURCE", Completes::source},
        .help = "a model's folder or file, an index or a Hub id; or where one is mounted",
        .alternative = "MOUNTPOINT",
    },
};

constexpr std::array flags{
    Flag{
        .name = "--json",
        .help = "a JSON object, with each shard and its metadata in it",
        .manual = R"(.Fl -json
prints a JSON object; for a mount, that of
.Va user.tensorfs.stats
is part of it.)",
    },
};

ExitCode run(const Typed& typed) {
    const bool is_json = typed.has("--json");
    if (is_mountpoint(typed.source())) {
        if (!typed.option_lists().empty()) {
            throw Failure(ExitCode::usage, "of a mount there is nothing to choose by -o");
        }
        print(is_json ? mount_info_json(typed.source()) : mount_info_text(typed.source()));
        return ExitCode::ok;
    }

    // What is good is summed up in any case; what is not is listed, and shows in the exit code.
    const Model model = load_source(typed, OnProblem::leave_out);
    if (is_json) {
        print_json(model);
    } else {
        print_text(model);
    }
    return model.problems().empty() ? ExitCode::ok : ExitCode::bad_source;
}

}  // namespace

constexpr Verb info_verb{
    .name = "info",
    .summary = "sum up a model, or what a mount does",
    .manual = R"(Sums up a model: tensors, parameters and bytes by dtype, shards, metadata.
For a damaged model, it sums up what is good, lists the rest, and exits with 4.
For a mount, it shows how long it has been mounted, how often it was reloaded, requests by kind, bytes, errors, how long
reads took, which tensors are read most, how much memory the daemon takes, and how many models it holds; see
.Sx STATISTICS .)",
    .arguments = arguments,
    .flags = flags,
    .takes = is_of_source,
    .run = run,
};

}  // namespace tensorfs
