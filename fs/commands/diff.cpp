#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

#include "core/base/escape.hpp"
#include "core/base/parallel.hpp"
#include "core/tensors/content.hpp"
#include "core/tensors/widen.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/terminal/progress.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/terminal/terminal.hpp"

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

template <typename Number>
Number load(const std::vector<std::byte>& bytes, std::size_t i) {
    Number number;
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
    return number;
}

/// Counts elements of this width whose bits differ; `distance(i)` says by how much, NaN for "not a number".
template <typename Code, typename Distance>
Difference compare_codes(const std::vector<std::byte>& a, const std::vector<std::byte>& b, const Distance& distance) {
    Difference difference;
    for (std::size_t i = 0; i < a.size() / sizeof(Code); ++i) {
        if (load<Code>(a, i) == load<Code>(b, i)) continue;
        ++difference.elements;
        const double apart = distance(i);
        if (std::isnan(apart)) {
            ++difference.nans;
        } else {
            difference.largest = std::max(difference.largest, apart);
            difference.sum += apart;
        }
    }
    return difference;
}

/// |a - b| of floats of this type; the same infinity twice is no distance.
template <typename Float, typename Code>
Difference compare_floats(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    return compare_codes<Code>(
        a, b, [&](std::size_t i) { return std::fabs(double{load<Float>(a, i)} - double{load<Float>(b, i)}); });
}

struct Complex {
    float real, imaginary;
};

/// Narrow floats: their values are float32, and their codes are compared where they are whole bytes. (The
/// narrowest have no NaN: values with the same bits have the same code.)
Difference compare_narrow(Dtype dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    thread_local std::vector<std::byte> wide_a;
    thread_local std::vector<std::byte> wide_b;
    const Block unit = block_of(dtype);
    const std::size_t count = a.size() / unit.nbytes * unit.elements;
    const auto widen_into = [&](const std::vector<std::byte>& packed, std::vector<std::byte>& wide) {
        wide.resize(count * sizeof(float));
        widen(dtype, packed.data(), count, reinterpret_cast<float*>(wide.data()));
    };
    widen_into(a, wide_a);
    widen_into(b, wide_b);
    const auto distance = [&](std::size_t i) {
        return std::fabs(double{load<float>(wide_a, i)} - double{load<float>(wide_b, i)});
    };
    if (is_packed(dtype)) return compare_codes<std::uint32_t>(wide_a, wide_b, distance);
    switch (unit.nbytes) {
        case 1: return compare_codes<std::uint8_t>(a, b, distance);
        case 2: return compare_codes<std::uint16_t>(a, b, distance);
        default: return compare_codes<std::uint32_t>(wide_a, wide_b, distance);
    }
}

Difference compare(Dtype dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    if (std::memcmp(a.data(), b.data(), a.size()) == 0) return {};
    if (can_widen(dtype)) return compare_narrow(dtype, a, b);
    const auto no_distance = [](std::size_t) { return 0.0; };
    switch (dtype) {
        case Dtype::F32: return compare_floats<float, std::uint32_t>(a, b);
        case Dtype::F64: return compare_floats<double, std::uint64_t>(a, b);
        case Dtype::C64:
            return compare_codes<std::uint64_t>(a, b, [&](std::size_t i) {
                const auto x = load<Complex>(a, i);
                const auto y = load<Complex>(b, i);
                return std::hypot(double{x.real} - double{y.real}, double{x.imaginary} - double{y.imaginary});
            });
        default: break;
    }
    switch (block_of(dtype).nbytes) {
        case 1: return compare_codes<std::uint8_t>(a, b, no_distance);
        case 2: return compare_codes<std::uint16_t>(a, b, no_distance);
        case 4: return compare_codes<std::uint32_t>(a, b, no_distance);
        default: return compare_codes<std::uint64_t>(a, b, no_distance);
    }
}

/// Compares the bytes of all pairs, in parallel.
void compare_all(const Model& a, const Model& b, std::vector<Pair>& pairs) {
    struct Stretch {
        std::size_t pair;
        std::uint64_t begin;
    };
    std::vector<Stretch> stretches;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        for (std::uint64_t begin = 0; begin < pairs[i].a->nbytes(); begin += chunk) stretches.push_back({i, begin});
        total += pairs[i].a->nbytes();
    }
    Progress progress("diff", total);
    std::mutex mutex;
    in_parallel(stretches.size(), [&](std::size_t i) {
        thread_local std::vector<std::byte> left;
        thread_local std::vector<std::byte> right;
        Pair& pair = pairs[stretches[i].pair];
        const std::uint64_t nbytes = std::min(chunk, pair.a->nbytes() - stretches[i].begin);
        left.resize(nbytes);
        right.resize(nbytes);
        read_range(raw_view(*pair.a), stretches[i].begin, left, a.shards());
        read_range(raw_view(*pair.b), stretches[i].begin, right, b.shards());
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

constexpr std::array arguments{
    source_argument,
    Argument{.value = {"OTHER", Completes::source}, .help = "the model to compare with"},
};

ExitCode run(const Typed& typed) {
    // As diff(1) has it: 1 means that they differ, 2 that something went wrong.
    try {
        Model a = load_source(typed);
        Model b = load_source(typed.value("OTHER"), typed);
        a.map();
        b.map();
        const std::string text = differences(a, b);
        print(text);
        return text.empty() ? ExitCode::ok : ExitCode::bad;
    } catch (const Error& e) {
        report(e);
    } catch (const std::exception& e) {
        complain(e.what());
    }
    return ExitCode::usage;
}

}  // namespace

constexpr Verb diff_verb{
    .name = "diff",
    .summary = "compare two models, tensor by tensor",
    .manual =
        R"(Compares two models: tensors that only one of them has, different dtypes and shapes, and how many elements
differ; of floats also by how much, at most and on average over all elements.
Metadata is not compared.
Options apply to both models.
Exits with 0 if nothing differs, 1 if something does, and 2 for any trouble.)",
    .arguments = arguments,
    .takes = is_of_source,
    .run = run,
};

}  // namespace tensorfs
