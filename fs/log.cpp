#include "fs/log.hpp"

#include <fuse3/fuse_log.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <syslog.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace tensorfs {
namespace {

spdlog::level::level_enum level_of(fuse_log_level level) {
    if (level <= FUSE_LOG_ERR) return spdlog::level::err;
    if (level == FUSE_LOG_WARNING) return spdlog::level::warn;
    return level == FUSE_LOG_DEBUG ? spdlog::level::debug : spdlog::level::info;
}

/// libfuse's messages are C format strings, mostly with a newline at the end.
void log_fuse(fuse_log_level level, const char* format, va_list arguments) {
    std::array<char, 1024> buffer{};
    std::vsnprintf(buffer.data(), buffer.size(), format, arguments);
    std::string_view text = buffer.data();
    while (text.ends_with('\n')) text.remove_suffix(1);
    if (!text.empty()) spdlog::log(level_of(level), "{}", text);
}

void install(std::shared_ptr<spdlog::logger> logger, const char* pattern, bool verbose) {
    logger->set_pattern(pattern);
    logger->set_level(verbose ? spdlog::level::debug : spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
    fuse_set_log_func(log_fuse);
}

}  // namespace

void log_to_terminal(bool verbose) {
    install(std::make_shared<spdlog::logger>("tensorfs", std::make_shared<spdlog::sinks::stderr_sink_mt>()),
            "tensorfs: %l: %v", verbose);
}

void log_to_syslog() {
    install(std::make_shared<spdlog::logger>(
                "tensorfs", std::make_shared<spdlog::sinks::syslog_sink_mt>("tensorfs", LOG_PID, LOG_DAEMON, false)),
            "%v", false);
}

}  // namespace tensorfs
