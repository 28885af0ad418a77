#include "core/model/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <tuple>

#include "core/base/escape.hpp"
#include "core/base/large_pages.hpp"
#include "core/base/merge_runs.hpp"
#include "core/base/parallel.hpp"
#include "core/base/path.hpp"

namespace tensorfs {

namespace {

/// How many descriptors more this process may have, as well as the system tells: what it holds open already
/// can be a model that this one is to follow.
std::uint64_t free_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return UINT64_MAX;
    std::error_code error;
    std::uint64_t open = 0;
    for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end; at.increment(error))
        ++open;
    return limit.rlim_cur > open ? limit.rlim_cur - open : 0;
}

}  // namespace

/// Builds one Model; holds what only loading needs.
class ModelLoader {
public:
    ModelLoader(Model& model, Source source) : model_(model), source_(std::move(source)) {}

    void load(OnProblem on_problem) {
        model_.path_ = source_.path;
        model_.location_ = source_.location;
        model_.notes_ = source_.notes;
        problems_ = source_.problems;
        read_shards(on_problem);
        check_parts();
        say_what_is_there_instead();
        join();
        sort_by_name();
        choose_tensors();
        if (!problems_.empty() && (on_problem == OnProblem::refuse || model_.shards_.empty())) {
            throw Error(std::move(problems_));
        }
        model_.problems_ = std::move(problems_);
        model_.tensors_.shrink_to_fit();
        check_total_size();
    }

private:
    /// A shard to be read, and what came of it: both parts, or problems.
    struct Task {
        std::uint32_t component;
        std::uint32_t number;  // in the component's shards
        std::optional<Shard> shard;
        const Format* format;
        Header header;
        std::vector<Problem> problems;
    };

    void read_shards(OnProblem on_problem) {
        for (std::uint32_t c = 0; c < source_.components.size(); ++c) {
            for (std::uint32_t i = 0; i < source_.components[c].shards.size(); ++i)
                tasks_.push_back({c, i, {}, nullptr, {}, {}});
        }
        constexpr std::uint64_t others = 64;  // descriptors for all but the shards
        const bool is_short_of_descriptors = tasks_.size() + others > free_descriptors();
        in_parallel(tasks_.size(), [&](std::size_t i) {
            Task& task = tasks_[i];
            const Component& component = source_.components[task.component];
            try {
                Shard shard(join_path(component.folder, component.shards[task.number]));
                const std::string prefix = component.name.empty() ? "" : component.name + '/';
                HeaderOptions options;
                options.prefix = prefix;
                options.key = source_.key;
                options.partial = on_problem == OnProblem::leave_out;
                task.format = &format_of(shard);
                if (!source_.key.empty() && !task.format->has_keys) refuse_key(shard, *task.format);
                task.header = task.format->read_header(shard, options);
                task.problems = std::move(task.header.problems);
                if (is_short_of_descriptors) shard.map_and_close();
                task.shard = std::move(shard);
            } catch (const Error& e) {
                task.problems = e.problems();
            }
        });
    }

    /// What formats say of each component's files together.
    void check_parts() {
        for (auto begin = tasks_.begin(); begin != tasks_.end();) {
            const auto end =
                std::find_if(begin, tasks_.end(), [&](const Task& task) { return task.component != begin->component; });
            for (const Format& format : formats()) {
                if (format.check_parts != nullptr) check_parts_of(format, {begin, end});
            }
            begin = end;
        }
    }

    void check_parts_of(const Format& format, std::span<const Task> tasks) {
        std::vector<Part> parts;
        bool is_whole = true;
        for (const Task& task : tasks) {
            is_whole = is_whole && task.problems.empty();
            if (!task.shard || task.format != &format) continue;
            parts.push_back({source_.components[task.component].shards[task.number], task.shard->path(),
                             task.header.metadata, task.header.tensors.size()});
        }
        if (parts.empty()) return;
        for (Problem& problem : format.check_parts(parts, is_whole)) problems_.push_back(std::move(problem));
    }

    [[noreturn]] void refuse_key(const Shard& shard, const Format& format) const {
        throw Error({Kind::NoSuchSource,
                     shard.path(),
                     {},
                     fmt::format("a {} file has no parts, so that there is no key {} (-o key=)", format.name,
                                 in_quotes(source_.key))});
    }

    /// Where shards are missing, and the whole model lies beside them, the first of them says so.
    void say_what_is_there_instead() {
        for (Task& task : tasks_) {
            std::string& instead = source_.components[task.component].instead;
            if (instead.empty() || task.problems.empty() || task.problems.front().kind != Kind::MissingShard) continue;
            task.problems.front().text +=
                fmt::format("; but a whole model is there, which `tensorfs {} MOUNTPOINT` shows", instead);
            instead.clear();
        }
    }

    void join() {
        std::size_t tensors = 0;
        std::size_t names = 0;
        std::size_t dims = 0;
        for (const Task& task : tasks_) {
            tensors += task.header.tensors.size();
            names += task.header.names.size();
            dims += task.header.dims.size();
        }
        model_.tensors_.reserve(tensors);
        model_.by_name_.reserve(tensors);
        model_.names_.reserve(names);
        model_.dims_.reserve(dims);
        ask_for_large_pages(model_.tensors_);
        ask_for_large_pages(model_.names_);
        for (const Component& component : source_.components) is_whole_.emplace_back(component.shards.size());
        for (Task& task : tasks_) {
            problems_.insert(problems_.end(), task.problems.begin(), task.problems.end());
            if (!task.shard) continue;
            take_losses(task);
            take_tensors(task.header);
            places_.push_back({task.component, task.number});
            const Component& component = source_.components[task.component];
            const std::string& name = component.shards[task.number];
            model_.shard_names_.push_back(join_path(component.name, name));
            model_.shard_paths_.push_back(join_path(absolute_path(component.folder), name));
            for (const std::string& note : task.header.notes)
                model_.notes_.push_back(fmt::format("{}: {}", model_.shard_names_.back(), note));
            for (std::string& call : task.header.calls)
                model_.calls_.push_back({model_.shards_.size(), std::move(call)});
            model_.shards_.push_back(std::move(*task.shard));
            model_.formats_.push_back(task.format);
            model_.metadata_.push_back(std::move(task.header.metadata));
        }
        tasks_.clear();
    }

    /// What a shard does not have for a reason that has been told is not missed once more. A problem of the whole file
    /// accounts for any tensor.
    void take_losses(const Task& task) {
        const auto is_of_file = [](const Problem& problem) { return problem.tensor.empty(); };
        is_whole_[task.component][task.number] = std::none_of(task.problems.begin(), task.problems.end(), is_of_file);
        for (const Problem& problem : task.problems) lost_.emplace(task.component, task.number, problem.tensor);
    }

    /// Moves the tensors of the shard that comes next, names and shapes, into the model's storage:
    /// one block for each, since what stays for as long as the mount should leave no gaps. The storage
    /// has room for all of them, so that nothing in it moves again.
    void take_tensors(Header& header) {
        const char* const names = model_.names_.data() + model_.names_.size();
        const std::uint64_t* const dims = model_.dims_.data() + model_.dims_.size();
        const auto first = static_cast<std::uint32_t>(model_.tensors_.size());
        for (const std::uint32_t i : header.by_name) model_.by_name_.push_back(first + i);
        run_ends_.push_back(model_.by_name_.size());
        model_.names_.insert(model_.names_.end(), header.names.begin(), header.names.end());
        model_.dims_.insert(model_.dims_.end(), header.dims.begin(), header.dims.end());
        for (const Tensor& tensor : header.tensors) {
            model_.tensors_.push_back(tensor.moved(header.names.data(), names, header.dims.data(), dims));
            model_.tensors_.back().set_shard(static_cast<std::uint32_t>(model_.shards_.size()));
        }
        header.tensors = {};
        header.by_name = {};
        header.names = {};
        header.dims = {};
    }

    /// Each shard's tensors are in order already.
    void sort_by_name() {
        const std::vector<Tensor>& tensors = model_.tensors_;
        merge_runs(model_.by_name_, std::move(run_ends_), [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple(tensors[a].full_name(), a) < std::tuple(tensors[b].full_name(), b);
        });
    }

    /// Decides which tensors there are. A component's tensors stand side by side in by_name_, in the
    /// order of the components, since full names begin with the component's and a slash.
    void choose_tensors() {
        const std::vector<std::uint32_t>& order = model_.by_name_;
        std::vector<bool> kept(order.size());
        auto begin = order.begin();
        for (std::uint32_t c = 0; c < source_.components.size(); ++c) {
            const auto end = std::find_if(begin, order.end(), [&](std::uint32_t i) { return place(i).component != c; });
            const std::span<const std::uint32_t> tensors(begin, end);
            if (source_.components[c].index) {
                follow_index(c, tensors, kept);
            } else {
                keep_first_of_each_name(tensors, kept);
            }
            begin = end;
        }
        if (std::find(kept.begin(), kept.end(), false) != kept.end()) keep_only(kept);
    }

    void keep_first_of_each_name(std::span<const std::uint32_t> order, std::vector<bool>& kept) {
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Tensor& tensor = model_.tensors_[order[i]];
            kept[order[i]] = i == 0 || model_.tensors_[order[i - 1]].full_name() != tensor.full_name();
            if (kept[order[i]]) continue;
            problems_.push_back({Kind::DuplicateName, model_.shards_[tensor.shard()].path(), std::string(tensor.name()),
                                 "the name stands in " +
                                     in_quotes(model_.shards_[model_.tensors_[order[i - 1]].shard()].path()) +
                                     " too, and no index decides"});
        }
    }

    /// Walks an index and its component's tensors side by side, both in byte order of the names.
    void follow_index(std::uint32_t component, std::span<const std::uint32_t> order, std::vector<bool>& kept) {
        const Index& index = *source_.components[component].index;
        std::size_t kept_count = 0;
        std::size_t at = 0;
        for (const Index::Entry& entry : index.entries()) {
            const std::string_view name = index.name(entry);
            while (at < order.size() && model_.tensors_[order[at]].name() < name) ++at;
            bool found = false;
            for (; at < order.size() && model_.tensors_[order[at]].name() == name; ++at) {
                if (place(order[at]).number != entry.shard) continue;
                kept[order[at]] = found = true;
                ++kept_count;
            }
            if (!found && is_whole_[component][entry.shard] &&
                !lost_.contains({component, entry.shard, std::string(name)})) {
                problems_.push_back(
                    {Kind::MissingTensor, source_.components[component].index_path, std::string(name),
                     "the index places it in " + in_quotes(index.shards()[entry.shard]) + ", which does not have it"});
            }
        }
        if (kept_count == order.size()) return;
        model_.notes_.push_back(fmt::format(
            "{}: {} of the shards' {} tensors are not listed, or are listed in another shard: they are left out",
            source_.components[component].index_path, order.size() - kept_count, order.size()));
    }

    void keep_only(const std::vector<bool>& kept) {
        std::vector<std::uint32_t> moved_to(kept.size());
        std::uint32_t count = 0;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (!kept[i]) continue;
            moved_to[i] = count;
            model_.tensors_[count++] = model_.tensors_[i];
        }
        std::erase_if(model_.by_name_, [&](std::uint32_t i) { return !kept[i]; });
        for (std::uint32_t& i : model_.by_name_) i = moved_to[i];
        model_.tensors_.erase(model_.tensors_.begin() + count, model_.tensors_.end());
    }

    void check_total_size() {
        std::vector<std::uint64_t> sums(source_.components.size());
        for (std::uint32_t i = 0; i < model_.tensors_.size(); ++i)
            sums[place(i).component] += model_.tensors_[i].nbytes();
        for (std::size_t c = 0; c < sums.size(); ++c) {
            const Component& component = source_.components[c];
            if (!component.index || !component.index->total_size() || *component.index->total_size() == sums[c])
                continue;
            model_.notes_.push_back(fmt::format("{}: total_size is {}, but the tensors have {} bytes",
                                                component.index_path, *component.index->total_size(), sums[c]));
        }
    }

    /// Where a good shard stands in the source.
    struct Place {
        std::uint32_t component, number;
    };
    [[nodiscard]] const Place& place(std::uint32_t tensor) const { return places_[model_.tensors_[tensor].shard()]; }

    Model& model_;
    Source source_;
    std::vector<Task> tasks_;
    std::vector<Problem> problems_;
    std::vector<std::vector<bool>> is_whole_;  // by component and position in its shards: what it lacks is missing
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::string>> lost_;  // the same, and a tensor that it had
    std::vector<Place> places_;                                             // of model_.shards_
    std::vector<std::size_t> run_ends_;  // in model_.by_name_: up to where each shard's tensors stand
};

Model Model::load(Source source, OnProblem on_problem) {
    Model model;
    ModelLoader(model, std::move(source)).load(on_problem);
    return model;
}

bool Model::is_same_as(const Model& other) const {
    const auto is_same_shard = [](const Shard& a, const Shard& b) { return a.is_same_file_as(b); };
    const auto is_same_tensor = [](const Tensor& a, const Tensor& b) {
        return a.full_name() == b.full_name() && a.shard() == b.shard() && a.offset() == b.offset() &&
               a.nbytes() == b.nbytes() && a.dtype() == b.dtype() && std::ranges::equal(a.shape(), b.shape()) &&
               a.is_strided() == b.is_strided() && (!a.is_strided() || std::ranges::equal(a.strides(), b.strides()));
    };
    const auto is_same_problem = [](const Problem& a, const Problem& b) { return to_string(a) == to_string(b); };
    return location_ == other.location_ && shard_paths_ == other.shard_paths_ && shard_names_ == other.shard_names_ &&
           notes_ == other.notes_ && std::ranges::equal(shards_, other.shards_, is_same_shard) &&
           std::ranges::equal(tensors_, other.tensors_, is_same_tensor) &&
           std::ranges::equal(problems_, other.problems_, is_same_problem);
}

const Tensor* Model::find(std::string_view full_name) const {
    const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), full_name,
                                        [&](std::uint32_t i, auto name) { return tensors_[i].full_name() < name; });
    if (found == by_name_.end() || tensors_[*found].full_name() != full_name) return nullptr;
    return &tensors_[*found];
}

std::string Model::format_names() const {
    std::vector<std::string_view> names;
    for (const Format* format : formats_) {
        if (std::find(names.begin(), names.end(), format->name) == names.end()) names.push_back(format->name);
    }
    return fmt::format("{}", fmt::join(names, ","));
}

Metadata Model::read_metadata(std::size_t shard, Keep wanted) const {
    if (has_all(metadata_[shard], wanted)) return metadata_[shard];
    Metadata read = formats_[shard]->read_metadata(shards_[shard], wanted);
    if (!shards_[shard].is_unchanged())
        throw Error({Kind::SystemError, shards_[shard].path(), {}, "it was changed since it was opened"});
    return read;
}

std::uint64_t Model::parameters() const {
    return std::accumulate(tensors_.begin(), tensors_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Tensor& tensor) { return sum + tensor.elements(); });
}

std::uint64_t Model::nbytes() const {
    return std::accumulate(tensors_.begin(), tensors_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Tensor& tensor) { return sum + tensor.nbytes(); });
}

void Model::map() {
    for (Shard& shard : shards_) {
        if (shard.bytes().empty()) shard.map();
    }
}

}  // namespace tensorfs
