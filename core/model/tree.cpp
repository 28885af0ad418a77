#include "core/model/tree.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/base/large_pages.hpp"
#include "core/base/natural_order.hpp"
#include "core/model/names.hpp"

namespace tensorfs {
namespace {

/// How many bytes both begin with. Names of neighbours share most of theirs: eight are compared at a time.
std::size_t shared_beginning(std::string_view a, std::string_view b) {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= most; at += sizeof(std::uint64_t)) {
        if (std::memcmp(a.data() + at, b.data() + at, sizeof(std::uint64_t)) != 0) break;
    }
    while (at < most && a[at] == b[at]) ++at;
    return at;
}

}  // namespace

/// Builds one Tree in three steps: place every tensor, in byte order of the names, in a loose tree
/// whose nodes stand in order of arrival; lay that out as the table; sum up the folders.
class TreeBuilder {
public:
    TreeBuilder(Tree& tree, const Model& model, std::string_view separators)
        : tree_(tree), model_(model), separators_(separators) {}

    void build() {
        loose_.reserve(model_.tensors().size() * 2);
        loose_.push_back({"", 0, 0, folder_mark});
        for (const std::uint32_t tensor : model_.by_name()) place(tensor);
        lay_out();
        sum_up();
    }

private:
    using Number = std::uint32_t;  // position in loose_
    static constexpr std::uint32_t folder_mark = UINT32_MAX;

    struct Loose {
        const char* text;
        std::uint32_t size;
        Number parent;
        std::uint32_t tensor;           // folder_mark for a folder
        std::uint32_t next_suffix = 2;  // to be tried for the next that meets it
        Number folder = 0;              // of a file: the folder that was told apart from it
        Number last = 0;                // of a folder: the entry that came last; 0 for none
        Number before = 0;              // the entry of its folder that came before it; 0 for none
        bool is_known = false;          // of a folder: its entries are in known_

        [[nodiscard]] std::string_view name() const { return {text, size}; }
        [[nodiscard]] bool is_folder() const { return tensor == folder_mark; }
    };

    /// Finds a node by its parent and name: an open-addressing table of numbers with their hashes. Only
    /// for folders whose entries do not come in order: see find().
    class Finder {
    public:
        explicit Finder(const LargeVector<Loose>& nodes) : nodes_(nodes), slots_(1024) {}

        [[nodiscard]] std::optional<Number> find(Number parent, std::string_view name) const {
            const std::uint32_t hash = hash_of(parent, name);
            for (std::size_t at = hash & (slots_.size() - 1); slots_[at].number != 0;
                 at = (at + 1) & (slots_.size() - 1)) {
                const Loose& node = nodes_[slots_[at].number];
                if (slots_[at].hash == hash && node.parent == parent && node.name() == name) return slots_[at].number;
            }
            return std::nullopt;
        }

        /// REQUIRES: the node is in the list and was not added before.
        void add(Number number) {
            if (++used_ > slots_.size() / 2) grow();
            put({hash_of(nodes_[number].parent, nodes_[number].name()), number});
        }

    private:
        struct Slot {
            std::uint32_t hash = 0;
            Number number = 0;  // the root is never looked for, so 0 is an empty slot
        };

        static std::uint32_t hash_of(Number parent, std::string_view name) {
            return static_cast<std::uint32_t>(XXH3_64bits_withSeed(name.data(), name.size(), parent));
        }
        void put(const Slot& slot) {
            std::size_t at = slot.hash & (slots_.size() - 1);
            while (slots_[at].number != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
        void grow() {
            const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 4));
            for (const Slot& slot : old) {
                if (slot.number != 0) put(slot);
            }
        }

        const LargeVector<Loose>& nodes_;
        std::vector<Slot> slots_;
        std::size_t used_ = 0;
    };

    /// A cut in the name placed last: where, and the folder that ends there.
    struct Cut {
        std::size_t at;
        Number folder;
    };

    void place(std::uint32_t tensor) {
        const Tensor& placed = model_.tensors()[tensor];
        const std::string_view name = placed.full_name();
        const std::size_t shared = shared_beginning(name, previous_);
        // In byte order all beginnings of a name stand before it, with nothing between that does
        // not begin so too: those of this one are among those of the name before.
        while (!beginnings_.empty() && beginnings_.back() > shared) beginnings_.pop_back();
        // A cut depends on the byte after it: where that is shared, the cut is.
        while (!cuts_.empty() && cuts_.back().at + 1 >= shared) cuts_.pop_back();

        std::size_t begin = cuts_.empty() ? 0 : cuts_.back().at + 1;
        for (std::size_t at = begin; at < name.size() && cuts_.size() < max_folders; ++at) {
            if (!is_cut(placed, at)) continue;
            if (std::binary_search(beginnings_.begin(), beginnings_.end(), at)) continue;
            const Number folder = find_or_add(current_folder(), name.substr(begin, at - begin), folder_mark);
            cuts_.push_back({at, folder});
            begin = at + 1;
        }
        find_or_add(current_folder(), name.substr(begin), tensor);
        beginnings_.push_back(name.size());
        previous_ = name;
    }

    /// Whether a full name is cut there: by rule 1, and where a component ends.
    [[nodiscard]] bool is_cut(const Tensor& tensor, std::size_t at) const {
        if (at + 1 <= tensor.prefix()) return at + 1 == tensor.prefix();
        return separators_.cut(tensor.name(), at - tensor.prefix());
    }

    [[nodiscard]] Number current_folder() const { return cuts_.empty() ? Number{0} : cuts_.back().folder; }

    /// The entry of that name in `parent`, if there is one. Names come in byte order, and so do nearly
    /// all folders' entries: what comes behind the last is new, and only where one does not is there
    /// anything to search.
    std::optional<Number> find(Number parent, std::string_view name) {
        Loose& folder = loose_[parent];
        if (!folder.is_known) {
            if (folder.last == 0 || loose_[folder.last].name() < name) return std::nullopt;
            if (loose_[folder.last].name() == name) return folder.last;
            for (Number entry = folder.last; entry != 0; entry = loose_[entry].before) known_.add(entry);
            folder.is_known = true;
        }
        return known_.find(parent, name);
    }

    /// The folder of that name in `parent`, new or not, or a new file for `tensor`.
    Number find_or_add(Number parent, std::string_view segment, std::uint32_t tensor) {
        std::string storage;
        std::string_view name = file_name(segment, parent == 0, storage);
        const bool wants_folder = tensor == folder_mark;
        const std::optional<Number> first = find(parent, name);
        if (first && wants_folder && loose_[*first].is_folder()) return *first;
        if (first && wants_folder && loose_[*first].folder != 0) return loose_[*first].folder;
        if (first) {
            const std::string base(name);
            for (std::uint32_t& suffix = loose_[*first].next_suffix;; ++suffix) {
                storage = with_suffix(base, fmt::format("~{}", suffix));
                const std::optional<Number> met = find(parent, storage);
                if (!met) break;
                if (wants_folder && loose_[*met].is_folder()) return loose_[*first].folder = *met;
            }
            name = storage;
        }
        if (name.data() == storage.data()) name = tree_.made_names_.emplace_back(std::move(storage));
        const auto number = static_cast<Number>(loose_.size());
        Loose added{name.data(), static_cast<std::uint32_t>(name.size()), parent, tensor};
        added.before = std::exchange(loose_[parent].last, number);
        loose_.push_back(added);
        folders_ += wants_folder ? 1 : 0;
        if (loose_[parent].is_known) known_.add(number);
        if (first && wants_folder) loose_[*first].folder = number;
        return number;
    }

    /// Numbers the nodes by depth and, within a folder, in natural order.
    void lay_out() {
        std::vector<std::uint32_t> begin(loose_.size() + 1);  // of a folder's children in `children`
        for (Number i = 1; i < loose_.size(); ++i) ++begin[loose_[i].parent + 1];
        for (Number i = 0; i < loose_.size(); ++i) begin[i + 1] += begin[i];
        std::vector<Number> children(loose_.size() - 1);
        std::vector<std::uint32_t> fill(begin.begin(), begin.end() - 1);
        for (Number i = 1; i < loose_.size(); ++i) children[fill[loose_[i].parent]++] = i;

        std::vector<Number> order{0};  // loose numbers in the table's order
        order.reserve(loose_.size());
        tree_.nodes_.reserve(loose_.size());
        tree_.folders_.reserve(folders_);
        tree_.nodes_.push_back({"", 0, 0, 0, true});
        for (Tree::Position node = 0; node < order.size(); ++node) {
            const Loose& loose = loose_[order[node]];
            if (!loose.is_folder()) continue;
            const auto from = children.begin() + begin[order[node]];
            const auto to = children.begin() + begin[order[node] + 1];
            std::sort(from, to, [&](Number a, Number b) { return natural_less(loose_[a].name(), loose_[b].name()); });
            Tree::Folder folder;
            folder.first = static_cast<Tree::Position>(order.size());
            folder.count = static_cast<std::uint32_t>(to - from);
            for (auto child = from; child != to; ++child) {
                const Loose& entry = loose_[*child];
                tree_.nodes_.push_back({entry.text, node, entry.is_folder() ? 0 : entry.tensor,
                                        static_cast<std::uint8_t>(entry.size), entry.is_folder()});
                order.push_back(*child);
            }
            tree_.nodes_[node].index = static_cast<std::uint32_t>(tree_.folders_.size());
            tree_.folders_.push_back(folder);
        }
    }

    /// Children stand after their parents, so one pass from the end sums all.
    void sum_up() {
        for (Tree::Position node = tree_.size() - 1; node != Tree::root; --node) {
            Tree::Folder& parent = tree_.folders_[tree_.nodes_[tree_.parent(node)].index];
            if (tree_.is_folder(node)) {
                const Tree::Folder& folder = tree_.folder(node);
                ++parent.folders;
                add(parent, folder.tensors, folder.newest, folder.parameters, folder.nbytes);
            } else {
                const Tensor& tensor = model_.tensors()[tree_.tensor(node)];
                add(parent, 1, tensor.shard(), tensor.elements(), tensor.nbytes());
            }
        }
    }

    void add(Tree::Folder& parent, std::uint32_t tensors, std::uint32_t newest, std::uint64_t parameters,
             std::uint64_t nbytes) const {
        const auto modified = [&](std::uint32_t shard) {
            const timespec time = model_.shards()[shard].modified();
            return std::tuple(time.tv_sec, time.tv_nsec);
        };
        if (parent.tensors == 0 || modified(newest) > modified(parent.newest)) parent.newest = newest;
        parent.tensors += tensors;
        parent.parameters += parameters;
        parent.nbytes += nbytes;
    }

    Tree& tree_;
    const Model& model_;
    Separators separators_;
    LargeVector<Loose> loose_;
    std::size_t folders_ = 1;  // of these
    Finder known_{loose_};
    std::string_view previous_;
    std::vector<Cut> cuts_;                // of the name placed last
    std::vector<std::size_t> beginnings_;  // lengths of the names that it begins with, itself included
};

Tree::Tree(const Model& model, std::string_view separators) { TreeBuilder(*this, model, separators).build(); }

std::string Tree::path(Position node) const {
    if (node == root) return {};
    std::string path = this->path(parent(node));
    if (!path.empty()) path += '/';
    return path += name(node);
}

std::optional<Tree::Position> Tree::child(Position node, std::string_view name) const {
    const Folder& parent = folder(node);
    const auto from = nodes_.begin() + parent.first;
    const auto to = from + parent.count;
    const auto found =
        std::lower_bound(from, to, name, [](const Node& a, std::string_view b) { return natural_less(a.name(), b); });
    if (found == to || found->name() != name) return std::nullopt;
    return static_cast<Position>(found - nodes_.begin());
}

}  // namespace tensorfs
