#include "core/formats/pytorch/survey.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/error.hpp"
#include "core/formats/pickle/opcode.hpp"
#include "core/formats/pickle/pickle.hpp"
#include "core/formats/pickle/syntax_error.hpp"
#include "core/formats/pytorch/code.hpp"
#include "core/formats/zip/directory.hpp"

namespace tensorfs::pytorch {
namespace {

constexpr std::uint64_t first_read = 4096;
constexpr int most_pickles = 5;  // as many as a legacy stream has
constexpr std::string_view archive_magic = "PK\x03\x04";
constexpr char proto = '\x80';

/// What is known of the pickle that begins a range of a file.
struct Beginning {
    std::string bytes;  // of it, and perhaps of what follows
    std::uint64_t size = 0;
    bool is_whole = false;
};

/// Reads a pickle as far as its instructions go. Throws Error (SystemError).
Beginning read_pickle_at(const Shard& shard, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t most = std::min(end - begin, pickle::max_pickle_size);
    Beginning pickle;
    std::uint64_t reached = 0;
    pickle.size = 1;
    try {
        while (!pickle.is_whole && pickle.size <= most) {
            const std::uint64_t have = pickle.bytes.size();
            pickle.bytes.resize(std::min(std::max({pickle.size, have * 2, first_read}), most));
            shard.read(begin + have, std::span(pickle.bytes).subspan(have));
            const pickle::End found = pickle::find_end(pickle.bytes, reached, pickle::Protocols::all);
            pickle.size = found.at;
            pickle.is_whole = found.is_found;
        }
    } catch (const pickle::SyntaxError&) {
        // It is followed up to there.
    }
    return pickle;
}

/// Any bytes may look like the text protocols' instructions. What a program could import does not look like any bytes.
bool is_plausible(std::string_view name) {
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    });
}

void survey_pickles(const Shard& shard, std::uint64_t begin, std::uint64_t end, Checkpoint& found) {
    for (int i = 0; i < most_pickles && begin < end; ++i) {
        const Beginning beginning = read_pickle_at(shard, begin, end);
        const bool is_binary = beginning.bytes.starts_with(proto);
        if (i != 0 && !is_binary) return;
        const std::size_t before = found.code.size();
        add_some_code(found, pickle::survey_pickle(beginning.bytes));
        if (!is_binary) {
            const auto implausible = [](const Code& one) { return !is_plausible(one.name); };
            const auto first = found.code.begin() + static_cast<std::ptrdiff_t>(before);
            found.code.erase(std::remove_if(first, found.code.end(), implausible), found.code.end());
        }
        if (!beginning.is_whole) return;
        begin += beginning.size;
    }
}

void survey_archive(const Shard& shard, Checkpoint& found) {
    std::uint64_t left = pickle::max_pickle_size;
    const zip::Directory directory = zip::read_directory(shard);
    for (const zip::Member& member : directory.members()) {
        if (!member.name.ends_with(".pkl") || member.obstacle != zip::Obstacle::none) continue;
        if (member.nbytes > left) return;
        left -= member.nbytes;
        survey_pickles(shard, member.offset, member.offset + member.nbytes, found);
    }
}

}  // namespace

std::vector<std::string> survey(const Shard& shard) {
    Checkpoint found;
    try {
        std::string beginning(std::min<std::uint64_t>(shard.size(), archive_magic.size()), '\0');
        shard.read(0, beginning);
        if (beginning == archive_magic) {
            survey_archive(shard, found);
        } else {
            survey_pickles(shard, 0, shard.size(), found);
        }
    } catch (const Error&) {
        // The file is refused anyway: what was found by then is told.
    }
    return names_of(std::move(found.code));
}

}  // namespace tensorfs::pytorch
