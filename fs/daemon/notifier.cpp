#include "fs/daemon/notifier.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <thread>

namespace tensorfs {

/// Calls `notify()`, unless the mount is ending. 0, or a negative errno value.
template <typename Notify>
int Notifier::notify(const Notify& notify) {
    notifying_.fetch_add(1);
    const int result = is_ending_.load() ? -ENOTCONN : notify();
    notifying_.fetch_sub(1);
    return result;
}

void Notifier::forget_root() {
    // An error means that there is nothing to forget.
    notify([&] { return fuse_lowlevel_notify_inval_inode(session_, FUSE_ROOT_ID, 0, 0); });
}

bool Notifier::knows(std::uint64_t node_id) {
    const int result = notify([&] { return fuse_lowlevel_notify_inval_inode(session_, node_id, -1, 0); });
    return result != -ENOENT && result != -ENOTCONN;
}

void Notifier::forget_name(std::uint64_t folder, std::string_view name) noexcept {
    std::array<char, NAME_MAX + 1> text{};  // ends with NUL
    name = name.substr(0, NAME_MAX);
    name.copy(text.data(), name.size());
    notify([&] { return fuse_lowlevel_notify_inval_entry(session_, folder, text.data(), name.size()); });
}

void Notifier::end(std::chrono::milliseconds patience) {
    is_ending_.store(true);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (is_notifying() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace tensorfs
