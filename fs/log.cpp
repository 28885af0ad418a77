#include "fs/log.hpp"

#include <fuse3/fuse_log.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/sinks/systemd_sink.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/escape.hpp"

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
    if (!text.empty()) spdlog::log(level_of(level), "{}", printable(text));
}

spdlog::level::level_enum level_of(LogLevel level) {
    switch (level) {
        case LogLevel::error: return spdlog::level::err;
        case LogLevel::warning: return spdlog::level::warn;
        case LogLevel::info: return spdlog::level::info;
        case LogLevel::debug: return spdlog::level::debug;
    }
    return spdlog::level::info;
}

void install(spdlog::sink_ptr sink, const char* pattern, LogLevel level) {
    auto logger = std::make_shared<spdlog::logger>("tensorfs", std::move(sink));
    logger->set_pattern(pattern);
    logger->set_level(level_of(level));
    spdlog::set_default_logger(std::move(logger));
    fuse_set_log_func(log_fuse);
}

/// Whether standard error leads to the journal: JOURNAL_STREAM names its device and inode (systemd.exec(5)).
bool is_journal() {
    const char* const stream = std::getenv("JOURNAL_STREAM");
    struct stat found {};
    return stream != nullptr && ::fstat(STDERR_FILENO, &found) == 0 &&
           std::to_string(found.st_dev) + ':' + std::to_string(found.st_ino) == stream;
}

}  // namespace

void log_to_terminal(LogLevel level) {
    if (is_journal()) {
        install(std::make_shared<spdlog::sinks::systemd_sink_mt>("tensorfs"), "%v", level);
    } else {
        install(std::make_shared<spdlog::sinks::stderr_sink_mt>(), "tensorfs: %l: %v", level);
    }
}

void log_to_syslog(LogLevel level) {
    install(std::make_shared<spdlog::sinks::syslog_sink_mt>("tensorfs", LOG_PID, LOG_DAEMON, false), "%v", level);
}

}  // namespace tensorfs
