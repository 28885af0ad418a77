#include "fs/commands/mount_info.hpp"

#include <fmt/format.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/json_text.hpp"
#include "core/base/path.hpp"
#include "fs/daemon/mountpoint.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {
namespace {

using Json = nlohmann::ordered_json;

std::string attribute(const std::string& mountpoint, const char* name) {
    std::string value(1 << 16, '\0');  // as long as any can be
    const ssize_t size = ::getxattr(mountpoint.c_str(), name, value.data(), value.size());
    if (size < 0) {
        const int error = errno;
        const std::string path = printable(mountpoint);
        std::string what = fmt::format("{}: {}", name, system_message(error));
        if (error == ENOTCONN) {
            what = fmt::format("{} (the daemon is gone: mount again, or clear it with `fusermount3 -uz {}`)",
                               system_message(error), path);
        } else if (error == EACCES) {
            what =
                fmt::format("{} (without allow_other, only the user who mounted it may look)", system_message(error));
        }
        throw Failure(ExitCode::mountpoint, fmt::format("{}: {}", path, what));
    }
    value.resize(static_cast<std::size_t>(size));
    return value;
}

/// The model shown, and the counters.
Json read_mount(const std::string& mountpoint) {
    const auto number = [&](const char* name) { return Json::parse(attribute(mountpoint, name)); };
    return {{"mountpoint", real_path(absolute_path(mountpoint))},
            {"source", attribute(mountpoint, "user.model.source")},
            {"shards", number("user.model.shards")},
            {"tensors", number("user.model.tensors")},
            {"parameters", number("user.model.parameters")},
            {"nbytes", number("user.model.nbytes")},
            {"stats", Json::parse(attribute(mountpoint, "user.tensorfs.stats"))}};
}

/// "2 d 3 h", "3 h 25 min", "25 min 7 s", "7 s".
std::string human_time(std::uint64_t seconds) {
    struct Unit {
        std::uint64_t seconds;
        const char* name;
    };
    constexpr std::array<Unit, 4> units{{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
    for (std::size_t i = 0; i + 1 < units.size(); ++i) {
        if (seconds < units[i].seconds) continue;
        return fmt::format("{} {} {} {}", seconds / units[i].seconds, units[i].name,
                           seconds % units[i].seconds / units[i + 1].seconds, units[i + 1].name);
    }
    return fmt::format("{} s", seconds);
}

std::uint64_t count(const Json& number) { return number.get<std::uint64_t>(); }

std::string requests_text(const Json& stats) {
    std::string text = fmt::format("\n{:<11} {:>15} {:>19}\n", "requests", "count", "bytes");
    for (const auto& [kind, times] : stats.at("requests").items()) {
        text += fmt::format("{:<11} {:>15} {:>19}\n", kind, with_commas(count(times)),
                            with_commas(count(stats.at("bytes").at(kind))));
    }
    if (count(stats.at("requests").at("read")) == 0) return text;
    text += "\nread latency";
    for (const auto& [name, time] : stats.at("read_latency_us").items()) {
        text += fmt::format("  {} {:.1f} us", name, time.get<double>());
    }
    return text + '\n';
}

std::string tensors_text(const Json& stats) {
    const Json& tensors = stats.at("busiest_tensors");
    if (tensors.empty()) return {};
    std::string text = fmt::format("\n{:>15} {:>19}  busiest tensors\n", "reads", "bytes");
    for (const Json& tensor : tensors) {
        text += fmt::format("{:>15} {:>19}  {}\n", with_commas(count(tensor.at("requests"))),
                            with_commas(count(tensor.at("bytes"))), printable(tensor.at("name").get<std::string>()));
    }
    return text;
}

std::string faults_text(const Json& stats) {
    const Json& faults = stats.at("faults");
    if (count(faults.at("shards")) == 0) return {};
    std::string text = fmt::format("\n{} gave errors\n", counted(count(faults.at("shards")), "shard"));
    for (const Json& fault : faults.at("first")) {
        text += fmt::format("  {}: {}\n", printable(fault.at("shard").get<std::string>()),
                            printable(fault.at("what").get<std::string>()));
    }
    return text;
}

std::string memory_text(const Json& stats) {
    if (!stats.contains("memory")) return "unknown";
    const Json& memory = stats.at("memory");
    return fmt::format("{} own, {} of files, {} at most", human_bytes(count(memory.at("own"))),
                       human_bytes(count(memory.at("mapped"))), human_bytes(count(memory.at("peak"))));
}

}  // namespace

bool is_mountpoint(const std::string& path) {
    const std::optional<Mount> mount = find_mount(real_path(absolute_path(path)));
    return mount && mount->type == our_type;
}

std::string mount_info_text(const std::string& mountpoint) {
    const Json all = read_mount(mountpoint);
    try {
        const Json& stats = all.at("stats");
        const Json& models = stats.at("models");
        std::string text = fmt::format(
            "mount point {}\nsource      {}\nshards      {}\ntensors     {}\nparameters  {}\nbytes       {} ({})\n",
            printable(all.at("mountpoint").get<std::string>()), printable(all.at("source").get<std::string>()),
            with_commas(count(all.at("shards"))), with_commas(count(all.at("tensors"))),
            with_commas(count(all.at("parameters"))), with_commas(count(all.at("nbytes"))),
            human_bytes(count(all.at("nbytes"))));
        if (const std::uint64_t problems = count(models.at("problems")); problems != 0) {
            text +=
                fmt::format("left out    what is bad: {}, see .tensorfs/problems.json\n", counted(problems, "problem"));
        }
        text += fmt::format(
            "\ndaemon      process {}, up for {}\nerrors      {}\nmemory      {}\nreloads     {}, {} failed, {} held\n",
            count(stats.at("pid")), human_time(count(stats.at("uptime_seconds"))),
            with_commas(count(stats.at("errors"))), memory_text(stats), with_commas(count(models.at("reloads"))),
            with_commas(count(models.at("failed_reloads"))), counted(count(models.at("held")), "model"));
        if (const std::string failure = models.at("last_failure"); !failure.empty()) {
            text += fmt::format("  the last reload failed: {}\n", printable(failure));
        }
        return text + requests_text(stats) + tensors_text(stats) + faults_text(stats);
    } catch (const Json::exception&) {
        throw Failure(ExitCode::internal,
                      fmt::format("{}: its daemon is another version of tensorfs; see --json", printable(mountpoint)));
    }
}

std::string mount_info_json(const std::string& mountpoint) { return json_text(read_mount(mountpoint), 2) + "\n"; }

}  // namespace tensorfs
