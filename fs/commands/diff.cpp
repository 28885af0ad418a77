#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/content.hpp"
#include "core/escape.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"
#include "core/widen.hpp"
#include "fs/commands/array_text.hpp"
#include "fs/commands/parse.hpp"
#include "fs/progress.hpp"
#include "fs/terminal.hpp"

namespace tensorfs {
namespace {

/// What is compared at a time: whole elements of every type, 3 bytes being four of F6.
constexpr std::uint64_t chunk = 3 * (256 << 10);

/// How two tensors of the same type and shape differ.
struct Difference {
    std::uint64_t elements = 0;  // whose bits differ
    std::uint64_t nans = 0;      // of these, NaN in one or both
    double largest = 0;          // of the others: |a - b|
    double sum = 0;

    void add(const Difference& other) {
        elements += other.elements;
        nans += other.nans;
        largest = std::max(largest, other.largest);
        sum += other.sum;
    }
};

struct Pair {
    const Tensor* a;
    const Tensor* b;
    Difference difference;
};

bool is_float(Dtype dtype) {
    return can_widen(dtype) || dtype == Dtype::F32 || dtype == Dtype::F64 || dtype == Dtype::C64;
}

/// The elements of a range of a tensor's bytes, narrow floats widened.
std::vector<Element> elements_in(Dtype dtype, const std::vector<std::byte>& bytes) {
    if (!can_widen(dtype)) return elements_of(dtype, bytes);
    const Packing unit = packing(dtype);
    std::vector<float> wide(bytes.size() / unit.nbytes * unit.elements);
    widen(dtype, bytes.data(), wide.size(), wide.data());
    return elements_of(dtype, std::as_bytes(std::span(wide)));
}

/// |a - b|; the same infinity twice is no distance.
double distance(const Element& a, const Element& b) {
    if (a.real == b.real && a.imaginary == b.imaginary) return 0;
    return std::hypot(a.real - b.real, a.imaginary - b.imaginary);
}

Difference compare(Dtype dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    Difference difference;
    if (std::memcmp(a.data(), b.data(), a.size()) == 0) return difference;
    const std::vector<Element> as = elements_in(dtype, a);
    const std::vector<Element> bs = elements_in(dtype, b);
    for (std::size_t i = 0; i < as.size(); ++i) {
        const Element& x = as[i];
        const Element& y = bs[i];
        const bool is_same = std::memcmp(&x.real, &y.real, sizeof x.real) == 0 &&
                             std::memcmp(&x.imaginary, &y.imaginary, sizeof x.imaginary) == 0 &&
                             x.integer == y.integer && x.natural == y.natural;
        if (is_same) continue;
        ++difference.elements;
        const double apart = distance(x, y);
        if (std::isnan(apart)) {
            ++difference.nans;
        } else {
            difference.largest = std::max(difference.largest, apart);
            difference.sum += apart;
        }
    }
    return difference;
}

/// Compares the bytes of all pairs, in parallel.
void compare_all(const Model& a, const Model& b, std::vector<Pair>& pairs) {
    struct Task {
        std::size_t pair;
        std::uint64_t begin;
    };
    std::vector<Task> tasks;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        for (std::uint64_t begin = 0; begin < pairs[i].a->nbytes(); begin += chunk) tasks.push_back({i, begin});
        total += pairs[i].a->nbytes();
    }
    Progress progress("diff", total);
    std::mutex mutex;
    in_parallel(tasks.size(), [&](std::size_t i) {
        thread_local std::vector<std::byte> left;
        thread_local std::vector<std::byte> right;
        Pair& pair = pairs[tasks[i].pair];
        const std::uint64_t nbytes = std::min(chunk, pair.a->nbytes() - tasks[i].begin);
        left.resize(nbytes);
        right.resize(nbytes);
        read_range(raw_view(*pair.a), tasks[i].begin, left, a.shards());
        read_range(raw_view(*pair.b), tasks[i].begin, right, b.shards());
        const Difference difference = compare(pair.a->dtype(), left, right);
        progress.add(nbytes);
        if (difference.elements == 0) return;
        const std::lock_guard lock(mutex);
        pair.difference.add(difference);
    });
}

std::string describe(const Pair& pair) {
    const Difference& difference = pair.difference;
    std::string text = fmt::format("{}: {} of {} differ", printable(pair.a->full_name()),
                                   with_commas(difference.elements), counted(pair.a->elements(), "element"));
    if (!is_float(pair.a->dtype())) return text + "\n";
    const std::uint64_t compared = pair.a->elements() - difference.nans;
    text += fmt::format(", by {:.6g} at most and {:.6g} on average", difference.largest,
                        compared == 0 ? 0.0 : difference.sum / static_cast<double>(compared));
    if (difference.nans != 0) text += fmt::format(", {} of them NaN", with_commas(difference.nans));
    return text + "\n";
}

bool same_shape(const Tensor& a, const Tensor& b) {
    return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end());
}

/// Walks both models side by side, in byte order of the names. Empty if nothing differs.
std::string differences(const Model& a, const Model& b) {
    std::vector<std::pair<const Tensor*, const Tensor*>> both;  // null for one that is not there
    auto left = a.by_name().begin();
    auto right = b.by_name().begin();
    while (left != a.by_name().end() || right != b.by_name().end()) {
        const Tensor* x = left == a.by_name().end() ? nullptr : &a.tensors()[*left];
        const Tensor* y = right == b.by_name().end() ? nullptr : &b.tensors()[*right];
        if (x != nullptr && y != nullptr && x->full_name() != y->full_name()) {
            (x->full_name() < y->full_name() ? y : x) = nullptr;
        }
        if (x != nullptr) ++left;
        if (y != nullptr) ++right;
        both.emplace_back(x, y);
    }
    std::vector<Pair> pairs;
    for (const auto& [x, y] : both) {
        if (x != nullptr && y != nullptr && x->dtype() == y->dtype() && same_shape(*x, *y)) pairs.push_back({x, y, {}});
    }
    compare_all(a, b, pairs);

    std::string text;
    auto pair = pairs.begin();
    for (const auto& [x, y] : both) {
        if (x == nullptr || y == nullptr) {
            text += fmt::format("only in {}: {}\n", printable(x != nullptr ? a.path() : b.path()),
                                printable((x != nullptr ? x : y)->full_name()));
            continue;
        }
        if (x->dtype() != y->dtype()) {
            text += fmt::format("{}: dtype {} and {}\n", printable(x->full_name()), to_string(x->dtype()),
                                to_string(y->dtype()));
        }
        if (!same_shape(*x, *y)) {
            text += fmt::format("{}: shape {} and {}\n", printable(x->full_name()), to_string(x->shape()),
                                to_string(y->shape()));
        }
        if (pair == pairs.end() || pair->a != x) continue;
        if (pair->difference.elements != 0) text += describe(*pair);
        ++pair;
    }
    return text;
}

}  // namespace

ExitCode run_diff(const Arguments& arguments) {
    SourceArguments source;
    std::string other;
    const auto app = make_app("diff");
    source.add_to(*app);
    app->add_option("OTHER", other, "the model to compare with")->required();
    if (!parse(*app, arguments)) return ExitCode::ok;

    // As diff(1): 1 says that they differ, so that all trouble is 2.
    try {
        Model a = source.load();
        source.path = other;
        Model b = source.load();
        a.map();
        b.map();
        const std::string text = differences(a, b);
        print(text);
        return text.empty() ? ExitCode::ok : ExitCode::bad;
    } catch (const Error& e) {
        report(e);
    } catch (const Failure& e) {
        complain(e.what());
    }
    return ExitCode::usage;
}

}  // namespace tensorfs
