#include "core/views/npz.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "core/views/npy.hpp"
#include "core/views/views.hpp"
#include "core/views/zip_writer.hpp"

namespace tensorfs {
namespace {

constexpr std::string_view ending = ".npy";

void check_names(const std::vector<std::string>& names, const std::string& path) {
    std::vector<Problem> problems;
    const auto add = [&](const std::string& name, std::string text) {
        problems.push_back({Kind::InvalidArchive, path, name, std::move(text)});
    };
    const std::set<std::string_view> all(names.begin(), names.end());
    for (const std::string& name : names) {
        const std::string member = name + std::string(ending);
        if (const std::string_view problem = member_name_problem(member); !problem.empty()) {
            add(name, fmt::format("as a member's name in an archive, it {}", problem));
        } else if (all.contains(member)) {
            add(name, "numpy.load() cannot tell it from the tensor of this name and .npy");
        }
    }
    if (!problems.empty()) throw Error(std::move(problems));
}

}  // namespace

ModelFile npz_file(std::span<const FileTensor> tensors, const ChecksumOf& checksum_of, const std::string& path) {
    std::vector<std::string> names;
    std::string storage;
    for (const FileTensor& tensor : tensors) names.emplace_back(utf8_name(*tensor.tensor, storage));
    check_names(names, path);
    ZipWriter zip;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        zip.add(names[i] + std::string(ending), npy_header(npy_type(tensors[i].dtype), tensors[i].shape()), tensors[i],
                checksum_of(i));
    }
    return zip.finish();
}

}  // namespace tensorfs
