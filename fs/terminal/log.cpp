#include "fs/terminal/log.hpp"

#include <fuse3/fuse_log.h>
#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/syslog_sink.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/escape.hpp"

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

/// As syslog(3) numbers them.
int priority_of(spdlog::level::level_enum level) {
    if (level >= spdlog::level::err) return LOG_ERR;
    if (level == spdlog::level::warn) return LOG_WARNING;
    return level == spdlog::level::info ? LOG_INFO : LOG_DEBUG;
}

/// Standard error, which may be a pipe that nobody reads or a terminal held with Ctrl-S. A line that it does not take
/// soon is left out: workers, or the thread that obeys signals, would wait for ever.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    /// With priorities, a line begins with its level as the journal reads it (sd-daemon(3)): "<3>" and so on.
    explicit StderrSink(bool with_priorities) : with_priorities_(with_priorities) {}

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (lost_ != 0 && can_write() && write(beginning(spdlog::level::warn) + gap())) lost_ = 0;
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        if (!write(beginning(message.level).append(line.data(), line.size()))) ++lost_;
    }
    void flush_() override {}

    [[nodiscard]] std::string beginning(spdlog::level::level_enum level) const {
        return with_priorities_ ? '<' + std::to_string(priority_of(level)) + '>' : std::string();
    }
    [[nodiscard]] std::string gap() const {
        return (with_priorities_ ? "" : "tensorfs: warning: ") + std::to_string(lost_) + " lines were left out here\n";
    }

    /// Once it has not taken a line in time, no line waits until it takes one.
    [[nodiscard]] bool can_write() const {
        constexpr int longest = 100;  // milliseconds
        pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
        return ::poll(&standard_error, 1, lost_ == 0 ? longest : 0) == 1;
    }
    [[nodiscard]] bool write(std::string_view text) const {
        while (!text.empty()) {
            if (!can_write()) return false;
            // A pipe that takes anything takes this much at once.
            const ssize_t written = ::write(STDERR_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return errno != EAGAIN;  // nobody is there to be told later
            text.remove_prefix(static_cast<std::size_t>(written));
        }
        return true;
    }

    bool with_priorities_;
    std::uint64_t lost_ = 0;  // lines since the last one taken
};

/// Whether standard error leads to the journal: JOURNAL_STREAM names its device and inode (systemd.exec(5)).
bool is_journal() {
    const char* const stream = std::getenv("JOURNAL_STREAM");
    struct stat found {};
    return stream != nullptr && ::fstat(STDERR_FILENO, &found) == 0 &&
           std::to_string(found.st_dev) + ':' + std::to_string(found.st_ino) == stream;
}

}  // namespace

void log_to_terminal(LogLevel level) {
    const bool to_journal = is_journal();  // which adds the program's name, and takes levels apart
    install(std::make_shared<StderrSink>(to_journal), to_journal ? "%v" : "tensorfs: %l: %v", level);
}

void log_to_syslog(LogLevel level) {
    install(std::make_shared<spdlog::sinks::syslog_sink_mt>("tensorfs", LOG_PID, LOG_DAEMON, false), "%v", level);
}

}  // namespace tensorfs
