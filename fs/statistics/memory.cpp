#include "fs/statistics/memory.hpp"

#include <fstream>
#include <string>

namespace tensorfs {

std::optional<Memory> memory_in_use() {
    std::ifstream status("/proc/self/status");
    Memory memory{};
    unsigned found = 0;
    for (std::string key; status >> key;) {
        std::uint64_t* const value = key == "RssAnon:"   ? &memory.own
                                     : key == "RssFile:" ? &memory.mapped
                                     : key == "VmHWM:"   ? &memory.peak
                                                         : nullptr;
        if (value != nullptr && status >> *value) {
            *value *= 1024;  // the kernel counts in KiB
            ++found;
        }
        status.ignore(1 << 16, '\n');
    }
    if (found != 3) return std::nullopt;
    return memory;
}

}  // namespace tensorfs
