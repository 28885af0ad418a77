#include "core/formats/pytorch/holders.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>

#include "core/formats/pytorch/containers.hpp"
#include "core/formats/pytorch/tensors.hpp"

namespace tensorfs::pytorch {
namespace {

using pickle::Handle;
using pickle::Pickle;

/// Goes to every container that can be reached, once, and notes those with a tensor in them; answers them
/// in an order in which most stand behind what is in them.
std::deque<std::uint32_t> reach(const Pickle& pickle, Handle root, std::vector<bool>& holds) {
    std::vector<bool> is_met(pickle.nodes());
    std::deque<std::uint32_t> order, next;
    const auto meet = [&](Handle container) {
        const std::uint32_t node = *Pickle::position(container);
        if (is_met[node]) return;
        is_met[node] = true;
        next.push_back(node);
    };
    if (is_container(pickle, root)) meet(root);
    while (!next.empty()) {
        const std::uint32_t node = next.back();
        next.pop_back();
        order.push_back(node);
        for (const Child& child : children(pickle, Pickle::node(node))) {
            if (is_tensor(pickle, child.value)) {
                holds[node] = true;
            } else if (is_container(pickle, child.value)) {
                meet(child.value);
            }
        }
    }
    std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace

Holders::Holders(const Pickle& pickle, Handle root) : holds_(pickle.nodes()) {
    const std::deque<std::uint32_t> order = reach(pickle, root, holds_);
    // Each round goes at least one container up from every tensor. In this order the first goes all the way,
    // but where containers are met twice or hold each other in circles.
    bool is_changed = true;
    for (std::size_t round = 0; is_changed && round < max_depth; ++round) {
        is_changed = false;
        for (const std::uint32_t node : order) {
            if (holds_[node]) continue;
            const std::vector<Child> inner = children(pickle, Pickle::node(node));
            if (std::none_of(inner.begin(), inner.end(), [&](const Child& child) { return hold(child.value); }))
                continue;
            holds_[node] = true;
            is_changed = true;
        }
    }
}

}  // namespace tensorfs::pytorch
