#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/formats/numpy/array_header.hpp"
#include "core/formats/numpy/literal.hpp"
#include "tests/fuzz/require.hpp"

// An input is a NumPy array's file.

using namespace tensorfs;
using namespace tensorfs::fuzz;

namespace {

void check_header(const numpy::ArrayHeader& header, std::uint64_t file_size) {
    require(header.data <= file_size && header.nbytes <= file_size - header.data, "the elements are in the file");
    require(header.dtype.has_value() == header.obstacle.empty(), "an array is shown, or it is said why not");
    require(header.shape.size() <= numpy::most_dims, "no more than 64 dimensions");
    if (!header.dtype) return;
    unsigned __int128 nbytes = block_of(*header.dtype).nbytes;
    for (const std::uint64_t dim : header.shape) {
        nbytes *= dim;
        require(nbytes <= UINT64_MAX, "the size fits 64 bits");
    }
    require(nbytes == header.nbytes, "shape and type need the bytes that are told");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view file(reinterpret_cast<const char*>(data), size);
    const std::uint64_t needed = std::min<std::uint64_t>(numpy::array_header_size(file.substr(0, 12)), size);
    try {
        // What stands behind the header must not be looked at.
        check_header(
            numpy::parse_array_header(file.substr(0, std::max<std::uint64_t>(needed, std::min<std::size_t>(size, 12))),
                                      size, "fuzz.npy", "fuzz"),
            size);
    } catch (const Error& e) {
        require_printable(e);
    }
    return 0;
}
