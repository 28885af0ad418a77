#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "core/formats/zip/directory.hpp"
#include "tests/fuzz/memory_file.hpp"

// An input is a zip archive.

using namespace tensorfs;
using namespace tensorfs::fuzz;

namespace {

void check_members(const zip::Directory& directory, std::uint64_t file_size) {
    std::set<std::string_view> names;
    std::vector<zip::Member> members(directory.members().begin(), directory.members().end());
    std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    std::uint64_t end = 0;
    for (const zip::Member& member : members) {
        require(is_utf8(member.name) && member.name.find('\0') == std::string_view::npos,
                "a name is UTF-8 without NUL");
        require(names.insert(member.name).second, "no name stands twice");
        require(member.offset >= end + 30 + member.name.size(), "a local header stands between members");
        require(member.nbytes <= file_size - member.offset, "a member ends in the file");
        end = member.offset + member.nbytes;
        const zip::Member* found = directory.find(member.name);
        require(found != nullptr && found->offset == member.offset, "a member is found by its name");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Shard shard = memory_file(data, size);
    try {
        check_members(zip::read_directory(shard), size);
    } catch (const Error& e) {
        require_printable(e);
        require(e.problems().front().kind == Kind::InvalidArchive, "what is wrong is the archive");
    }
    return 0;
}
