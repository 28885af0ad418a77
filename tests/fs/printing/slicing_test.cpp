#include "fs/printing/slicing.hpp"

#include <array>
#include <random>

#include "fs/terminal/failure.hpp"
#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

using Dims = std::vector<std::uint64_t>;

/// The numbers of the elements that are selected, in order.
Dims elements_of(const Slicing& selection) {
    Dims elements;
    selection.visit_runs([&](const Slicing::Run& run) {
        for (std::uint64_t i = 0; i < run.count; i += run.step) elements.push_back(run.first + i);
    });
    return elements;
}

std::string refusal(const Dims& shape, std::string_view text) {
    try {
        const Slicing selection(shape, text);
    } catch (const Failure& e) {
        CHECK(e.code() == ExitCode::usage);
        return e.what();
    }
    return {};
}

}  // namespace

TEST_CASE("without a text all of a tensor is selected, in one run") {
    const Dims shape{2, 3, 4};
    const Slicing selection{Shape(shape)};
    CHECK(selection.is_all());
    CHECK(selection.shape() == shape);
    CHECK(elements_of(selection).size() == 24);
    int runs = 0;
    selection.visit_runs([&](const Slicing::Run&) { ++runs; });
    CHECK(runs == 1);
    CHECK(elements_of(Slicing(Shape())) == Dims{0});
}

TEST_CASE("slices and indices select as NumPy's do") {
    const Dims shape{4, 5};
    const auto selected = [&](std::string_view text) { return Slicing(shape, text); };
    CHECK(selected("1").shape() == Dims{5});
    CHECK(elements_of(selected("1")) == Dims{5, 6, 7, 8, 9});
    CHECK(elements_of(selected("-1,-2")) == Dims{18});
    CHECK(selected("-1,-2").shape().empty());
    CHECK(elements_of(selected("1:3,::2")) == Dims{5, 7, 9, 10, 12, 14});
    CHECK(selected("1:3,::2").shape() == Dims{2, 3});
    CHECK(elements_of(selected(":,0")) == Dims{0, 5, 10, 15});
    CHECK(elements_of(selected("-100:100:3")) == Dims{0, 1, 2, 3, 4, 15, 16, 17, 18, 19});
    CHECK(elements_of(selected(" 0 , 1 : 3 ")) == Dims{1, 2});
    CHECK(selected("3:1").shape() == Dims{0, 5});
    CHECK(elements_of(selected("3:1")).empty());
    CHECK(selected(":,:").is_all());
    CHECK_FALSE(selected("0:3").is_all());
}

TEST_CASE("what selects nothing that there is is refused, and says why") {
    CHECK(refusal({4, 5}, "4") == "--slice \"4\": 4 is out of range: the tensor's shape is [4,5]");
    CHECK(refusal({4, 5}, "-5").find("out of range") != std::string::npos);
    CHECK(refusal({4, 5}, "-9223372036854775808").find("out of range") != std::string::npos);
    CHECK(refusal({4, 5}, "1,2,3") == "--slice \"1,2,3\": the tensor's shape is [4,5]");
    CHECK(refusal({}, ":") == "--slice \":\": the tensor's shape is []");
    CHECK(refusal({4}, "::0") == "--slice \"::0\": a step is at least 1");
    CHECK(refusal({4}, "::-1") == "--slice \"::-1\": a step is at least 1");
    CHECK(refusal({4}, "1:2:3:4").find("START:STOP:STEP") != std::string::npos);
    CHECK(refusal({4}, "a").find("\"a\" is not a number") != std::string::npos);
    CHECK(refusal({4}, "99999999999999999999").find("is not a number") != std::string::npos);
    CHECK(refusal({4, 5}, "1,").find("needs an index or a colon") != std::string::npos);
    CHECK(refusal({0}, "0").find("out of range") != std::string::npos);
}

TEST_CASE("the runs of any selection are its elements, one by one and in order") {
    std::mt19937 random(1);
    const auto below = [&](std::uint64_t limit) {
        return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random);
    };
    for (int round = 0; round < 500; ++round) {
        Dims shape(1 + below(4));
        for (std::uint64_t& size : shape) size = 1 + below(5);
        // What each dimension selects, and the text for it.
        std::vector<Dims> wanted;
        std::string text;
        for (const std::uint64_t size : shape) {
            const std::uint64_t start = below(size);
            const std::uint64_t stop = start + below(size - start + 1);
            const std::uint64_t step = 1 + below(3);
            Dims& indices = wanted.emplace_back();
            for (std::uint64_t i = start; i < stop; i += step) indices.push_back(i);
            text += (text.empty() ? "" : ",") + std::to_string(start) + ":" + std::to_string(stop) + ":" +
                    std::to_string(step);
        }
        Dims expected{0};
        for (std::size_t d = 0; d < shape.size(); ++d) {
            Dims next;
            for (const std::uint64_t outer : expected) {
                for (const std::uint64_t index : wanted[d]) next.push_back(outer * shape[d] + index);
            }
            expected = next;
        }
        INFO(text);
        REQUIRE(elements_of(Slicing(shape, text)) == expected);
    }
}
