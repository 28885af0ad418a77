#include "core/formats/pytorch/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/formats/pytorch/containers.hpp"
#include "core/formats/pytorch/holders.hpp"
#include "core/formats/pytorch/tensors.hpp"

namespace tensorfs::pytorch {
namespace {

using pickle::Handle;
using pickle::Pickle;

/// What a walk may take, so that a small pickle whose containers hold each other many times cannot make
/// more of itself than a large one may. A sound one has a name for some hundred bytes, and each container
/// on few ways.
struct Allowance {
    std::size_t steps, names, name_bytes, dims;

    explicit Allowance(std::uint64_t pickle_size)
        : steps(std::min<std::size_t>(std::size_t{64} << 20, (std::size_t{1} << 20) + 16 * pickle_size)),
          names(std::min<std::size_t>(std::size_t{1} << 20, (std::size_t{64} << 10) + pickle_size)),
          name_bytes(std::min<std::size_t>(std::size_t{64} << 20, (std::size_t{4} << 20) + 64 * pickle_size)),
          dims(8 * names) {}
};

class Walk {
public:
    Walk(const Pickle& pickle, Handle root, const Storages& storages, const std::string& path, Checkpoint& checkpoint)
        : pickle_(pickle),
          holders_(pickle, root),
          storages_(storages),
          path_(path),
          checkpoint_(checkpoint),
          left_(pickle.size()) {}

    void run(Handle root) {
        if (is_tensor(pickle_, root)) return add(root);
        if (!holders_.hold(root)) return;
        enter(root);
        while (!way_.empty()) {
            Level& level = way_.back();
            name_.resize(level.name_size);
            if (level.next < level.children.size()) {
                look_at(level.children[level.next++]);
            } else {
                way_.pop_back();
            }
        }
    }

private:
    struct Level {
        Handle container;
        std::size_t name_size;  // of the container's own name
        std::vector<Child> children;
        std::size_t next = 0;
    };

    void look_at(const Child& child) {
        const bool holds = !is_tensor(pickle_, child.value) && holders_.hold(child.value);
        if (!holds && !is_tensor(pickle_, child.value)) return;
        const std::optional<std::string_view> part = key_text(pickle_, child.key, scratch_);
        if (!part) return leave_out("it is below a key that is no name");
        append_part(name_, way_.size() - 1, *part);
        if (!holds) return add(child.value);
        if (is_on_way(child.value)) return;
        if (way_.size() == max_depth) return leave_out(fmt::format("it is more than {} containers down", max_depth));
        enter(child.value);
    }

    void enter(Handle container) {
        way_.push_back({container, name_.size(), children(pickle_, container), 0});
        take(left_.steps, way_.back().children.size() + 1);
    }

    void add(Handle tensor) {
        take(left_.names, 1);
        take(left_.name_bytes, name_.size());
        Reading reading = read_tensor(pickle_, storages_, tensor);
        switch (reading.is) {
            case Reading::Is::nothing: break;
            case Reading::Is::left_out: tell(std::move(reading.text)); break;
            case Reading::Is::bad:
                if (reading.text.empty()) break;
                checkpoint_.problems.push_back({reading.kind, path_, name_, std::move(reading.text)});
                if (checkpoint_.problems.size() >= 2 * max_told) throw Error(std::move(checkpoint_.problems));
                break;
            case Reading::Is::tensor: add(reading); break;
        }
    }

    void add(const Reading& reading) {
        take(left_.dims, reading.shape.size() + reading.strides.size());
        checkpoint_.tensors.push_back({checkpoint_.names.size(), checkpoint_.dims.size(),
                                       static_cast<std::uint32_t>(name_.size()),
                                       static_cast<std::uint32_t>(reading.shape.size()), reading.offset, reading.nbytes,
                                       reading.dtype, reading.is_contiguous});
        auto& dims = checkpoint_.dims;
        checkpoint_.names.insert(checkpoint_.names.end(), name_.begin(), name_.end());
        dims.insert(dims.end(), reading.shape.begin(), reading.shape.end());
        dims.insert(dims.end(), reading.strides.begin(), reading.strides.end());
    }

    void leave_out(std::string why) {
        take(left_.names, 1);
        take(left_.name_bytes, name_.size());
        tell(std::move(why));
    }

    void tell(std::string why) {
        if (checkpoint_.left_out.size() < max_told) {
            checkpoint_.left_out.push_back({name_, std::move(why)});
        } else {
            ++checkpoint_.more_left_out;
        }
    }

    [[nodiscard]] bool is_on_way(Handle container) const {
        return std::any_of(way_.begin(), way_.end(), [&](const Level& level) { return level.container == container; });
    }

    void take(std::size_t& left, std::size_t amount) const {
        if (amount > left) {
            throw Error({Kind::InvalidPickle,
                         path_,
                         {},
                         "its containers hold each other so often that the names of its tensors are not to be listed"});
        }
        left -= amount;
    }

    const Pickle& pickle_;
    const Holders holders_;
    const Storages& storages_;
    const std::string& path_;
    Checkpoint& checkpoint_;
    Allowance left_;
    std::vector<Level> way_;
    std::string name_;  // of what is looked at
    std::string scratch_;
};

}  // namespace

void walk(const Pickle& pickle, Handle root, const Storages& storages, const std::string& path,
          Checkpoint& checkpoint) {
    Walk(pickle, root, storages, path, checkpoint).run(root);
}

}  // namespace tensorfs::pytorch
