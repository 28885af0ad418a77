// show SOURCE: prints each tensor's name, dtype and shape, and the bytes of its first element.
#include <algorithm>
#include <iostream>

#include "core/base/escape.hpp"
#include "core/model/model.hpp"
#include "core/views/listings.hpp"

using namespace tensorfs;

int main(int argc, char** argv) try {
    const Model model = Model::load(find_source(argc > 1 ? argv[1] : "."));
    for (const Tensor& tensor : model.tensors()) {
        std::string first(std::min<std::size_t>(block_of(tensor.dtype()).nbytes, tensor.nbytes()), '\0');
        model.shards()[tensor.shard()].read(tensor.offset(), first);
        std::cout << printable(tensor.name()) << ' ' << to_string(tensor.dtype()) << ' '
                  << tensorfs::to_string(tensor.shape());
        for (const unsigned char byte : first) std::cout << ' ' << static_cast<int>(byte);
        std::cout << '\n';
    }
} catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
