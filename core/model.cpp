#include "core/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/error.hpp"
#include "core/escape.hpp"
#include "core/parallel.hpp"

namespace tensorfs {

/// Builds one Model; holds what only loading needs.
class ModelLoader {
public:
    explicit ModelLoader(Model& model) : model_(model) {}

    void load() {
        read_shards();
        join();
        sort_by_name();
        if (model_.source_.index) {
            follow_index(*model_.source_.index);
        } else {
            refuse_duplicates();
        }
        if (!problems_.empty()) throw Error(std::move(problems_));
        model_.tensors_.shrink_to_fit();
        check_total_size();
        model_.source_.index.reset();  // as large as the names of all tensors, and of no more use
    }

private:
    /// What reading one shard came to: both parts, or problems.
    struct Result {
        std::optional<Shard> shard;
        Header header;
        std::vector<Problem> problems;
    };

    void read_shards() {
        const Source& source = model_.source_;
        results_.resize(source.shards.size());
        in_parallel(results_.size(), [&](std::size_t i) {
            Result& result = results_[i];
            try {
                Shard shard(source.shard_path(source.shards[i]));
                result.header = read_header(shard);
                result.shard = std::move(shard);
            } catch (const Error& e) {
                result.problems = e.problems();
            }
        });
    }

    void join() {
        std::size_t total = 0;
        for (const Result& result : results_) total += result.header.tensors.size();
        model_.tensors_.reserve(total);
        for (Result& result : results_) {
            problems_.insert(problems_.end(), result.problems.begin(), result.problems.end());
            is_good_.push_back(result.shard.has_value());
            if (!result.shard) continue;
            for (Tensor& tensor : result.header.tensors) {
                tensor.set_shard(static_cast<std::uint32_t>(model_.shards_.size()));
                model_.tensors_.push_back(tensor);
            }
            result.header.tensors = {};
            numbers_.push_back(static_cast<std::uint32_t>(is_good_.size() - 1));
            model_.shards_.push_back(std::move(*result.shard));
            model_.metadata_.push_back(std::move(result.header.metadata));
            model_.storage_.push_back(std::move(result.header));
        }
        results_.clear();
    }

    void sort_by_name() {
        model_.by_name_.resize(model_.tensors_.size());
        std::iota(model_.by_name_.begin(), model_.by_name_.end(), 0U);
        const std::vector<Tensor>& tensors = model_.tensors_;
        std::sort(model_.by_name_.begin(), model_.by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple(tensors[a].name(), a) < std::tuple(tensors[b].name(), b);
        });
    }

    void refuse_duplicates() {
        const std::vector<std::uint32_t>& order = model_.by_name_;
        for (std::size_t i = 1; i < order.size(); ++i) {
            const Tensor& first = model_.tensors_[order[i - 1]];
            const Tensor& second = model_.tensors_[order[i]];
            if (first.name() != second.name()) continue;
            problems_.push_back({Kind::DuplicateName, path_of(second), std::string(second.name()),
                                 "the name stands in " + in_quotes(path_of(first)) + " too, and no index decides"});
        }
    }

    /// Walks the index and the tensors side by side, both in byte order of the names.
    void follow_index(const Index& index) {
        std::vector<std::uint32_t>& order = model_.by_name_;
        std::vector<bool> kept(model_.tensors_.size());
        std::size_t kept_count = 0;
        std::size_t at = 0;
        for (const Index::Entry& entry : index.entries()) {
            const std::string_view name = index.name(entry);
            while (at < order.size() && model_.tensors_[order[at]].name() < name) ++at;
            bool found = false;
            for (; at < order.size() && model_.tensors_[order[at]].name() == name; ++at) {
                if (numbers_[model_.tensors_[order[at]].shard()] != entry.shard) continue;
                kept[order[at]] = found = true;
                ++kept_count;
            }
            if (!found && is_good_[entry.shard]) {
                problems_.push_back(
                    {Kind::MissingTensor, model_.source_.index_path, std::string(name),
                     "the index places it in " + in_quotes(index.shards()[entry.shard]) + ", which does not have it"});
            }
        }
        if (kept_count == order.size()) return;
        model_.notes_.push_back(
            fmt::format("{} of the shards' {} tensors are not listed by the index, or are listed in "
                        "another shard: they are left out",
                        order.size() - kept_count, order.size()));
        keep_only(kept);
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
        if (!model_.source_.index || !model_.source_.index->total_size()) return;
        const std::uint64_t stated = *model_.source_.index->total_size();
        if (stated == model_.nbytes()) return;
        model_.notes_.push_back(
            fmt::format("the index's total_size is {}, but the tensors have {} bytes", stated, model_.nbytes()));
    }

    [[nodiscard]] const std::string& path_of(const Tensor& tensor) const {
        return model_.shards_[tensor.shard()].path();
    }

    Model& model_;
    std::vector<Result> results_;
    std::vector<Problem> problems_;
    std::vector<bool> is_good_;           // by position in the source's shards: it was read
    std::vector<std::uint32_t> numbers_;  // position in model_.shards_ to position in the source's
};

Model Model::load(Source source) {
    Model model;
    model.source_ = std::move(source);
    ModelLoader(model).load();
    return model;
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
    for (Shard& shard : shards_) shard.map();
}

}  // namespace tensorfs
