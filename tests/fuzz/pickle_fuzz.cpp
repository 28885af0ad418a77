#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/formats/pickle/globals.hpp"
#include "core/formats/pickle/opcode.hpp"
#include "core/formats/pickle/pickle.hpp"
#include "core/formats/pickle/syntax_error.hpp"
#include "core/formats/pytorch/legacy.hpp"
#include "tests/fuzz/require.hpp"

// An input is a pickle, and what may follow it. It is read by itself and as the object of a legacy stream,
// with the list of its storages' keys and some bytes for these behind it.

using namespace tensorfs;
using namespace tensorfs::fuzz;

namespace {

void check_graph(const pickle::Pickle& read, std::string_view bytes) {
    require(read.size() <= bytes.size() && bytes[read.size() - 1] == '.', "a pickle ends with STOP");
    require(read.nodes() <= bytes.size() + 4, "an instruction makes no more than one value");
    std::size_t elements = 0;
    for (std::uint32_t i = 0; i < read.nodes(); ++i) {
        const pickle::Handle value = pickle::Pickle::node(i);
        for (const pickle::Handle item : read.items(value)) {
            ++elements;
            static_cast<void>(read.type(item));
        }
        if (const auto text = read.string(value)) {
            require(text->data() >= bytes.data() && text->data() + text->size() <= bytes.data() + bytes.size(),
                    "a text stands in the pickle");
        }
        if (read.type(value) == pickle::Type::dict) {
            std::size_t size = 0;
            for ([[maybe_unused]] const pickle::Handle item : read.items(value)) ++size;
            require(size % 2 == 0, "every key has a value");
        }
    }
    require(elements <= bytes.size() * 3, "a container holds what was on the stack");
    std::set<std::pair<std::string_view, std::string_view>> names;
    for (const pickle::GlobalUse& use : pickle::globals_of(read)) {
        require(names.emplace(use.module, use.name).second, "each global is listed once");
    }
}

/// Where the pickle ends, for one who reads it byte by byte; 0 if it is no pickle.
std::uint64_t end_of(std::string_view bytes) {
    try {
        std::uint64_t from = 0;
        for (std::size_t size = 1; size <= bytes.size(); size += 7) {
            const pickle::End end = pickle::find_end(bytes.substr(0, size), from);
            if (end.is_found) return end.at;
            require(end.at > size, "more bytes are asked for than there are");
        }
        const pickle::End end = pickle::find_end(bytes, from);
        return end.is_found ? end.at : 0;
    } catch (const pickle::SyntaxError&) {
        return 0;
    }
}

/// A file in memory, with a path by which it can be opened.
class MemoryFile {
public:
    MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) { require(fd_ >= 0, "there is memory for a file"); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
    void write(std::string_view bytes) const {
        require(::ftruncate(fd_, 0) == 0, "a file can be emptied");
        require(::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
                "a file can be written");
    }

private:
    int fd_;
};

void check_stream(std::string_view object) {
    static const MemoryFile file;
    std::string bytes("\x80\2\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.\x80\2M\xE9\3.\x80\2}.");
    bytes += object;
    bytes += std::string_view(
        "\x80\2]X\1\0\0\0"
        "0a.",
        12);
    bytes += std::string_view("\4\0\0\0\0\0\0\0", 8);
    bytes += std::string(64, 'e');
    file.write(bytes);
    try {
        const pytorch::Checkpoint checkpoint = pytorch::read_legacy(Shard(file.path()), {});
        for (const pytorch::Found& tensor : checkpoint.tensors) {
            require(is_utf8(checkpoint.name(tensor)), "a name is UTF-8");
            unsigned __int128 elements = 1;
            for (const std::uint64_t size : checkpoint.shape(tensor)) elements *= size;
            require(elements * block_of(tensor.dtype).nbytes ==
                        static_cast<unsigned __int128>(tensor.nbytes) * block_of(tensor.dtype).elements,
                    "shape and type need the bytes that are told");
            if (tensor.nbytes == 0) continue;
            require(tensor.offset < bytes.size(), "a tensor begins in the file");
            if (tensor.is_contiguous) require(tensor.nbytes <= bytes.size() - tensor.offset, "and is a slice of it");
        }
        for (const Problem& problem : checkpoint.problems) require_printable(Error(problem));
    } catch (const Error& e) {
        require_printable(e);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    std::uint64_t end = 0;
    // Whatever it is, it can be followed for what it would look up.
    require(pickle::globals_of(pickle::survey_pickle(bytes)).size() <= size, "a global takes an instruction");
    try {
        const pickle::Pickle read = pickle::read_pickle(bytes);
        check_graph(read, bytes);
        end = read.size();
    } catch (const pickle::SyntaxError& e) {
        require(is_utf8(e.what()), "a message is UTF-8");
        return 0;
    }
    require(end_of(bytes) == end, "a pickle ends where it ends, whoever looks for that");
    check_stream(bytes.substr(0, end));
    return 0;
}
