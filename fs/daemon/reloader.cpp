#include "fs/daemon/reloader.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "fs/daemon/loading.hpp"
#include "fs/daemon/privileges.hpp"
#include "fs/serving/model_switch.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/log.hpp"
#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {
namespace {

/// More generations than this are not held at once: somebody keeps files of each open.
constexpr std::size_t most_generations = 1000;

/// Whether a source lies at or below a mount point, so that its path leads into the mount and no longer to the source.
bool is_covered(const std::string& source, const std::string& mountpoint) {
    if (mountpoint.empty()) return false;
    std::error_code error;
    const std::filesystem::path top = std::filesystem::weakly_canonical(mountpoint, error);
    if (error) return false;
    const std::filesystem::path path = std::filesystem::weakly_canonical(source, error);
    return !error && std::mismatch(top.begin(), top.end(), path.begin(), path.end()).first == top.end();
}

}  // namespace

Reloader::Reloader(const MountOptions& options, Served& served, KernelCache& kernel)
    : options_(options), served_(served), kernel_(kernel) {}

Reloader::~Reloader() {
    if (thread_.joinable()) thread_.join();
}

void Reloader::reload() {
    if (is_busy()) {
        once_more_ = true;
    } else {
        begin(Job::reload);
    }
}

void Reloader::forget_old_models() {
    if (!is_busy()) begin(Job::forget);
}

bool Reloader::end() {
    if (!finished_.take()) return false;
    thread_.join();
    const bool has_reloaded = job_ == Job::reload;
    if (!std::exchange(once_more_, false)) return has_reloaded;
    reload();
    return !is_busy();  // if no thread could be started for it, it has failed and ended
}

void Reloader::begin(Job job) {
    job_ = job;
    try {
        thread_ = std::thread([this, job] { run(job); });
    } catch (...) {                             // no thread, or no memory for one
        if (job == Job::reload) log_failure();  // forgetting comes again by itself
    }
}

void Reloader::run(Job job) noexcept {
    if (job == Job::reload) {
        try {
            load_and_switch();
            served_.last_failure.set({});
        } catch (...) {
            log_failure();
        }
    } else {
        try {
            tensorfs::forget_old_models(served_, kernel_);
        } catch (const std::bad_alloc&) {
            // The next time, then.
        }
    }
    finished_.notify();
}

void Reloader::load_and_switch() {
    use_reading_privilege();
    const std::string& source = options_.source;
    if (is_covered(source, options_.mountpoint)) {
        throw Failure(
            ExitCode::no_source,
            "it is mounted over its own source, which cannot be seen any more: unmount it and mount it again, "
            "elsewhere if it is to be reloaded");
    }
    Model model = load_and_map(source, options_,
                               [&](const std::string& note) { spdlog::info("{}: {}", printable(source), note); });
    // What could not be read may stay so for ever, as sshfs has it once its connection has ended: it is opened anew.
    const std::shared_ptr<const Generation> current = served_.generations.current();
    if (current->faults.seen().empty() && model.is_same_as(current->volume.model())) {
        spdlog::info("{}: unchanged", printable(source));
        return;
    }
    if (served_.generations.size() >= most_generations) {
        throw Failure(ExitCode::internal, "files of too many models before this one are still open");
    }
    const std::shared_ptr<const Generation> next = switch_model(served_, kernel_, std::move(model), options_);
    const Model& shown = next->volume.model();
    spdlog::info("{}: reloaded: {} in {}", printable(source), counted(shown.tensors().size(), "tensor"),
                 counted(shown.shards().size(), "shard"));
}

/// Counts and logs the exception that is being handled: why a reload has failed.
void Reloader::log_failure() noexcept {
    try {
        try {
            throw;
        } catch (const Error& e) {
            for (const Problem& problem : e.problems()) spdlog::error("{}", to_string(problem));
            served_.last_failure.set(to_string(e.problems().front()));
        } catch (const std::exception& e) {
            spdlog::error("{}: {}", printable(options_.source), e.what());
            served_.last_failure.set(e.what());
        }
        spdlog::error("{}: not reloaded; the mount stays as it was", printable(options_.source));
    } catch (...) {  // no memory for a line of log: the count tells
    }
    served_.failed_reloads.fetch_add(1);
}

}  // namespace tensorfs
