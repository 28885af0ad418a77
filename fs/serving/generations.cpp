#include "fs/serving/generations.hpp"

#include <algorithm>
#include <mutex>

namespace tensorfs {

std::shared_ptr<Generation> Generations::current() const {
    const std::shared_lock lock(mutex_);
    return held_.back();
}

std::shared_ptr<Generation> Generations::of(NodeId node) const {
    return node.is_root() ? current() : tagged(node.generation);
}

std::shared_ptr<Generation> Generations::tagged(std::uint16_t tag) const {
    const std::shared_lock lock(mutex_);
    // From the last on, since it is nearly always the current one.
    const auto found = std::find_if(held_.rbegin(), held_.rend(), [&](const std::shared_ptr<Generation>& generation) {
        return generation->tag() == tag;
    });
    return found == held_.rend() ? nullptr : *found;
}

std::vector<std::shared_ptr<Generation>> Generations::old() const {
    const std::shared_lock lock(mutex_);
    return {held_.begin(), held_.end() - 1};
}

bool Generations::is_current(const Generation& generation) const {
    const std::shared_lock lock(mutex_);
    return held_.back().get() == &generation;
}

std::size_t Generations::size() const {
    const std::shared_lock lock(mutex_);
    return held_.size();
}

std::uint64_t Generations::free_serial(std::uint64_t wanted) const {
    const std::shared_lock lock(mutex_);
    const auto is_taken = [&](const std::shared_ptr<Generation>& generation) {
        return generation->tag() == wanted % NodeId::generations;
    };
    while (std::any_of(held_.begin(), held_.end(), is_taken)) ++wanted;
    return wanted;
}

void Generations::show(std::shared_ptr<Generation> next) {
    const std::unique_lock lock(mutex_);
    held_.push_back(std::move(next));
}

void Generations::sweep() {
    std::vector<std::shared_ptr<Generation>> gone;  // freed after the lock, since that takes a while
    const std::unique_lock lock(mutex_);
    gone.reserve(held_.size());  // so that nothing throws once held_ is reordered
    swept_ = held_.back()->serial();
    const auto is_kept = [current = held_.back().get()](const std::shared_ptr<Generation>& generation) {
        return generation.get() == current || generation->is_known_to_kernel();
    };
    const auto first_gone = std::stable_partition(held_.begin(), held_.end(), is_kept);
    gone.assign(std::make_move_iterator(first_gone), std::make_move_iterator(held_.end()));
    held_.erase(first_gone, held_.end());
}

void Generations::forget(NodeId node, std::uint64_t count) {
    if (node.is_root()) return;
    const std::shared_ptr<Generation> generation = of(node);
    if (!generation || !generation->drop_lookups(count)) return;
    const std::unique_lock lock(mutex_);
    if (generation->serial() < swept_ && !generation->is_known_to_kernel()) std::erase(held_, generation);
}

}  // namespace tensorfs
