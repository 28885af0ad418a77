#include <cstring>
#include <random>

#include "core/formats/safetensors/safetensors.hpp"
#include "core/model/model.hpp"
#include "core/tensors/widen.hpp"
#include "core/views/listings.hpp"
#include "core/views/merged.hpp"
#include "core/views/npy.hpp"
#include "core/views/pytorch.hpp"
#include "core/views/views.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

constexpr std::size_t rows = 37;
constexpr std::size_t columns = 53;

/// A .npy file in Fortran's order: the array is the transpose of what lies there.
std::string column_major(const std::string& type, std::size_t itemsize, const std::string& elements) {
    std::string dict = "{'descr': '" + type + "', 'fortran_order': True, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(columns) + "), }";
    dict.resize(118 - 1, ' ');
    REQUIRE(elements.size() == rows * columns * itemsize);
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dict + "\n" + elements;
}

std::string row_major(std::size_t itemsize, const std::string& elements) {
    std::string out;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column)
            out += elements.substr((column * rows + row) * itemsize, itemsize);
    }
    return out;
}

/// A model of one strided tensor.
struct Transposed {
    TemporaryFolder folder;
    std::string lying;
    std::string expected;
    Model model;

    Transposed(const std::string& type, std::size_t itemsize)
        : lying(sample_bytes(rows * columns * itemsize, itemsize)),
          expected(row_major(itemsize, lying)),
          model(load()) {
        write_file(folder / "t.npy", column_major(type, itemsize, lying));
        model = Model::load(find_source(folder / "t.npy"));
        model.map();
    }
    [[nodiscard]] const Tensor& tensor() const { return model.tensors().front(); }
    [[nodiscard]] std::string bytes(const Content& content) const { return bytes_of(content, model.shards()); }

private:
    static Model load() {
        const TemporaryFolder folder;
        write_file(folder / "m.safetensors", safetensors_file("{}", ""));
        return Model::load(find_source(folder / "m.safetensors"));
    }
};

const std::vector<std::uint64_t> shape{rows, columns};

}  // namespace

TEST_CASE("a strided tensor's file is row-major, and so are its arrays") {
    const Transposed f16("<f2", 2);
    REQUIRE(f16.model.tensors().size() == 1);
    REQUIRE(f16.tensor().is_strided());
    CHECK(std::ranges::equal(f16.tensor().shape(), shape));
    CHECK(f16.bytes(raw_view(f16.tensor())) == f16.expected);
    CHECK(f16.bytes(npy_view(f16.tensor())) == npy_header("<f2", shape) + f16.expected);
    CHECK(f16.bytes(f32_view(f16.tensor())) == npy_header("<f4", shape) + widened_bytes(Dtype::F16, f16.expected));
    CHECK(f32_view_size(f16.tensor()) == f32_view(f16.tensor()).size());

    const Transposed f64("<f8", 8);
    CHECK(f64.bytes(raw_view(f64.tensor())) == f64.expected);
    CHECK(f64.bytes(f32_view(f64.tensor())) == npy_header("<f8", shape) + f64.expected);
}

TEST_CASE("any range of a strided tensor's file is the same range of the whole, with windows and without") {
    const Transposed f16("<f2", 2);
    std::mt19937 random(7);
    GatherWindows windows;
    for (const bool is_widened : {false, true}) {
        Content content;
        if (is_widened) {
            content.add_widened(f16.tensor());
        } else {
            content.add(f16.tensor());
        }
        const std::string whole = f16.bytes(content);
        CHECK(whole == (is_widened ? widened_bytes(Dtype::F16, f16.expected) : f16.expected));
        for (int i = 0; i < 300; ++i) {
            const std::size_t begin = random() % whole.size();
            const std::size_t nbytes = 1 + random() % (whole.size() - begin);
            std::vector<Content::Piece> pieces;
            content.gather(begin, nbytes, f16.model.shards(), pieces);
            REQUIRE(pieces.size() == 1);
            CHECK(pieces[0].is_gathered());
            CHECK(pieces[0].must_be_copied());
            std::string out(nbytes, '\0');
            REQUIRE(pieces[0].copy_to(reinterpret_cast<std::byte*>(out.data()), i % 2 == 0 ? &windows : nullptr));
            CHECK(out == whole.substr(begin, nbytes));
        }
    }
}

TEST_CASE("a strided tensor stands row-major in the files of the whole model") {
    const Transposed f16("<f2", 2);
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", f16.bytes(merged_view(f16.model).value()));
    Model merged = Model::load(find_source(folder / "m.safetensors"));
    merged.map();
    REQUIRE(merged.tensors().size() == 1);
    CHECK(merged.tensors()[0].dtype() == Dtype::F16);
    CHECK(bytes_of(raw_view(merged.tensors()[0]), merged.shards()) == f16.expected);
    CHECK(contains(f16.bytes(pytorch_view(f16.model)), f16.expected));
}

TEST_CASE("a strided tensor has no offset, for there is no slice to map") {
    const Transposed f16("<f2", 2);
    CHECK_FALSE(contains(tensor_json(f16.model, f16.tensor(), ""), "offset"));
}

TEST_CASE("a strided tensor of a file that was cut short is an error") {
    const Transposed f64("<f8", 8);
    std::filesystem::resize_file(f64.folder / "t.npy", 4000);
    std::vector<Content::Piece> pieces;
    const Content content = raw_view(f64.tensor());
    content.gather(0, content.size(), f64.model.shards(), pieces);
    std::vector<std::byte> out(content.size());
    CHECK_FALSE(pieces.at(0).copy_to(out.data()));
}
