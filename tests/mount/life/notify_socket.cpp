#include "tests/mount/life/notify_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <stdexcept>

namespace tensorfs::tests {

NotifySocket::NotifySocket()
    : path_(folder_ / "notify"), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    if (!socket_ || ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error("cannot make a socket");
}

std::optional<std::string> NotifySocket::next(std::chrono::milliseconds longest) const {
    pollfd source{socket_.get(), POLLIN, 0};
    if (::poll(&source, 1, static_cast<int>(longest.count())) != 1) return std::nullopt;
    std::string message(65536, '\0');
    const ssize_t got = ::recv(socket_.get(), message.data(), message.size(), 0);
    if (got < 0) return std::nullopt;
    message.resize(static_cast<std::size_t>(got));
    return message;
}

std::string NotifySocket::wait_for(const std::string& line) const {
    std::string seen;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < deadline) {
        const std::optional<std::string> message = next(std::chrono::milliseconds(100));
        if (message && has_line(*message, line)) return *message;
        seen += message.value_or("");
    }
    throw std::runtime_error("nobody said " + line + ", but: " + seen);
}

std::vector<std::string> NotifySocket::all() const {
    std::vector<std::string> messages;
    while (std::optional<std::string> message = next(std::chrono::milliseconds(0))) messages.push_back(*message);
    return messages;
}

bool has_line(const std::string& message, const std::string& line) {
    return ("\n" + message + "\n").find("\n" + line + "\n") != std::string::npos;
}

}  // namespace tensorfs::tests
