#include "fs/daemon/privileges.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <initializer_list>

#include "core/base/error.hpp"
#include "fs/terminal/log.hpp"

namespace tensorfs {
namespace {

void warn_cannot(const char* what) { spdlog::warn("cannot {}: {}", what, system_message(errno)); }

/// Leaves the calling thread the capabilities of `permitted` that it has, and puts those of `effective` to use.
bool set_capabilities(std::initializer_list<unsigned> permitted, std::initializer_list<unsigned> effective) {
    // The C library has no capset(2); libcap is not worth a dependency for one call. Capabilities
    // are numbered through words of 32 bits.
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> now{};
    if (::syscall(SYS_capget, &header, now.data()) != 0) return false;
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> kept{};
    for (const unsigned capability : permitted) {
        kept[capability / 32].permitted |= now[capability / 32].permitted & 1U << (capability % 32);
    }
    for (const unsigned capability : effective) {
        kept[capability / 32].effective |= kept[capability / 32].permitted & 1U << (capability % 32);
    }
    return ::syscall(SYS_capset, &header, kept.data()) == 0;
}

void drop_all_but(std::initializer_list<unsigned> permitted, std::initializer_list<unsigned> effective) {
    if (::geteuid() != 0) return;
    if (!set_capabilities(permitted, effective)) warn_cannot("give up capabilities");
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) warn_cannot("give up gaining privileges");
}

}  // namespace

void drop_privileges() { drop_all_but({}, {}); }

void drop_privileges_but_reading() { drop_all_but({CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH}, {CAP_SYS_ADMIN}); }

void use_reading_privilege() {
    if (::geteuid() != 0) return;
    if (!set_capabilities({CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH}, {CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH})) {
        warn_cannot("use the right to read all files");
    }
}

}  // namespace tensorfs
