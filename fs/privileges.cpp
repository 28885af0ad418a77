#include "fs/privileges.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/error.hpp"
#include "fs/log.hpp"

namespace tensorfs {

void drop_privileges() {
    const auto complain = [](const char* what) { spdlog::warn("cannot give up {}: {}", what, system_message(errno)); };
    if (::geteuid() != 0) return;

    // The C library has no capset(2); libcap is not worth a dependency for one call. A capability's
    // bit is in the word of its number's upper part.
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> now{};
    if (::syscall(SYS_capget, &header, now.data()) != 0) return complain("capabilities");
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> kept{};
    constexpr unsigned bit = 1U << (CAP_SYS_ADMIN % 32);
    kept[CAP_SYS_ADMIN / 32].effective = kept[CAP_SYS_ADMIN / 32].permitted = now[CAP_SYS_ADMIN / 32].permitted & bit;
    if (::syscall(SYS_capset, &header, kept.data()) != 0) complain("capabilities");
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) complain("the way to new privileges");
}

}  // namespace tensorfs
