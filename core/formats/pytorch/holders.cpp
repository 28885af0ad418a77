#include "core/formats/pytorch/holders.hpp"

#include <algorithm>

#include "core/formats/pytorch/containers.hpp"
#include "core/formats/pytorch/tensors.hpp"

namespace tensorfs::pytorch {
namespace {

using pickle::Handle;
using pickle::Pickle;

/// Finds the strongly connected components (Tarjan's algorithm, with a stack of its own): containers that
/// hold each other in a circle hold the same tensors, and a component is complete before those above it.
class Search {
public:
    Search(const Pickle& pickle, std::vector<bool>& holds)
        : pickle_(pickle), holds_(holds), number_(pickle.nodes(), unseen) {}

    void run(Handle root) {
        if (!is_container(pickle_, root)) return;
        enter(root);
        while (!way_.empty()) {
            Visit& visit = way_.back();
            if (visit.next < visit.children.size()) {
                look_at(visit, visit.children[visit.next++].value);
            } else {
                leave();
            }
        }
    }

private:
    static constexpr std::uint32_t unseen = 0, complete = UINT32_MAX;

    struct Visit {
        std::uint32_t node;
        std::uint32_t number;  // in the order in which containers are met, from 1 on
        std::uint32_t lowest;  // number of a container on the way that can be reached from here
        bool holds = false;
        std::size_t next = 0;
        std::vector<Child> children;
    };

    void enter(Handle value) {
        const std::uint32_t node = *Pickle::position(value);
        ++met_;
        number_[node] = met_;
        open_.push_back(node);
        way_.push_back({node, met_, met_, false, 0, children(pickle_, value)});
    }

    void look_at(Visit& visit, Handle child) {
        if (is_tensor(pickle_, child)) {
            visit.holds = true;
        } else if (is_container(pickle_, child)) {
            const std::uint32_t node = *Pickle::position(child);
            if (number_[node] == unseen) return enter(child);  // and `visit` is no more
            if (number_[node] == complete) {
                visit.holds = visit.holds || holds_[node];
            } else {
                visit.lowest = std::min(visit.lowest, number_[node]);
            }
        }
    }

    void leave() {
        const Visit done = std::move(way_.back());
        way_.pop_back();
        // Within a component the answer of each goes up to its first container, and from there to all.
        if (done.lowest == done.number) close(done);
        if (way_.empty()) return;
        way_.back().holds = way_.back().holds || done.holds;
        if (done.lowest != done.number) way_.back().lowest = std::min(way_.back().lowest, done.lowest);
    }

    void close(const Visit& first) {
        for (;;) {
            const std::uint32_t node = open_.back();
            open_.pop_back();
            number_[node] = complete;
            holds_[node] = first.holds;
            if (node == first.node) return;
        }
    }

    const Pickle& pickle_;
    std::vector<bool>& holds_;
    std::vector<std::uint32_t> number_;  // by node
    std::vector<std::uint32_t> open_;    // met, and their component not complete
    std::vector<Visit> way_;
    std::uint32_t met_ = 0;
};

}  // namespace

Holders::Holders(const Pickle& pickle, Handle root) : holds_(pickle.nodes()) { Search(pickle, holds_).run(root); }

}  // namespace tensorfs::pytorch
