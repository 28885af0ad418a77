#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/names.hpp"
#include "core/model/tree.hpp"
#include "tests/fuzz/require.hpp"

// An input is a byte that chooses the separators and whether there is a component, and names with a
// byte 0xFF between them. What of a name is not UTF-8 becomes "?", since no header can hold it.

using namespace tensorfs;
using namespace tensorfs::fuzz;

namespace {

/// A file in memory, with a path by which it can be opened.
class MemoryFile {
public:
    MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) { require(fd_ >= 0, "there is memory for a file"); }
    void write(std::string_view bytes) const {
        require(::ftruncate(fd_, 0) == 0, "a file can be emptied");
        require(::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
                "a file can be written");
    }
    [[nodiscard]] std::string name() const { return std::to_string(fd_); }

private:
    int fd_;
};

std::set<std::string> names_from(std::string_view input) {
    std::set<std::string> names;
    std::string name;
    while (!input.empty()) {
        const std::size_t length = utf8_length(input);
        if (length == 0 && input.front() == '\xFF') {
            names.insert(std::exchange(name, {}));
        } else {
            name += length == 0 ? "?" : input.substr(0, length);
        }
        input.remove_prefix(std::max<std::size_t>(length, 1));
    }
    names.insert(name);
    names.erase("__metadata__");  // a field of its own
    return names;
}

Model model_of(const std::set<std::string>& names, const std::string& component) {
    nlohmann::json header = nlohmann::json::object();
    for (const std::string& name : names) header[name] = {{"dtype", "U8"}, {"shape", {0}}, {"data_offsets", {0, 0}}};
    const std::string text = header.dump();
    std::string file;
    for (unsigned shift = 0; shift < 64; shift += 8) file += static_cast<char>(std::uint64_t{text.size()} >> shift);
    static const MemoryFile memory;
    memory.write(file + text);
    return Model::load({"fuzz", "/fuzz", "", {{component, "/proc/self/fd", {memory.name()}, {}, {}}}, {}, {}});
}

/// %XX as the byte that it stands for; every % must stand before two digits.
std::string decoded(std::string_view name) {
    if (name == "%") return "";
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] != '%') {
            out += name[i];
            continue;
        }
        require(i + 2 < name.size(), "an escape is whole");
        out += static_cast<char>(std::stoi(std::string(name.substr(i + 1, 2)), nullptr, 16));
        i += 2;
    }
    return out;
}

void check_file_name(std::string_view name) {
    require(!name.empty() && name.size() <= max_segment, "a file name has 1 to 255 bytes");
    require(name != "." && name != "..", "no file is called . or ..");
    require(is_utf8(name), "a file name is UTF-8");
    for (const char c : name) {
        require(c != '/' && c != 0x7F && static_cast<unsigned char>(c) >= 0x20, "a file name has no / and no control");
    }
}

/// Rules 3 and 4, for a name as one segment.
void check_segment(const std::string& segment) {
    for (const bool first : {false, true}) {
        std::string storage;
        const std::string name(file_name(segment, first, storage));
        check_file_name(name);
        require(!first || name != ".tensorfs", "the hidden folder's name is taken");
        if (escape_segment(segment).size() <= max_segment)
            require(decoded(name) == segment, "a file name is reversible");
    }
}

/// A path leads back to the name: by its segments, and a separator wherever they meet.
void check_path(const std::string& path, std::string_view full_name, std::size_t prefix, const Separators& separators) {
    if (path.find('~') != std::string::npos) return;  // may be cut, or told apart
    std::size_t at = 0;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string segment = decoded(std::string_view(path).substr(begin, end - begin));
        require(full_name.substr(at, segment.size()) == segment, "a segment is a part of the name");
        at += segment.size();
        begin = end + 1;
        if (end == path.size()) break;
        require(at < full_name.size() && (at + 1 == prefix || separators.contains(full_name[at])),
                "a separator stands where segments meet");
        ++at;
    }
    require(at == full_name.size(), "a path is the whole name");
}

void check_tree(const Model& model, const Tree& tree, const Separators& separators) {
    std::set<std::string> paths;
    std::set<std::uint32_t> tensors;
    for (Tree::Position node = 1; node < tree.size(); ++node) {
        check_file_name(tree.name(node));
        require(tree.parent(node) < node && tree.is_folder(tree.parent(node)), "a parent is a folder before its child");
        require(tree.parent(node) != Tree::root || tree.name(node) != ".tensorfs", "the hidden folder's name is taken");
        require(tree.child(tree.parent(node), tree.name(node)) == node, "a node is found by its name");
        const std::string path = tree.path(node);
        require(paths.insert(path).second, "a path is unique");
        if (tree.is_folder(node)) continue;
        const Tensor& tensor = model.tensors().at(tree.tensor(node));
        require(tensors.insert(tree.tensor(node)).second, "a tensor is one file");
        check_path(path, tensor.full_name(), tensor.prefix(), separators);
    }
    require(tensors.size() == model.tensors().size(), "every tensor is a file");
    require(tree.folder(Tree::root).tensors == tensors.size(), "the root counts all tensors");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr std::array<std::string_view, 8> sets{"./", ".", "/", "", "_", "~%", "a.", ":\\"};
    const std::string_view set = sets[data[0] % sets.size()];
    const std::string component = data[0] & 0x80 ? "text_encoder.2" : "";
    const std::set<std::string> names = names_from({reinterpret_cast<const char*>(data) + 1, size - 1});
    for (const std::string& name : names) check_segment(name);
    const Model model = model_of(names, component);
    require(model.tensors().size() == names.size(), "every name is a tensor");
    check_tree(model, Tree(model, set), Separators(set));
    return 0;
}
