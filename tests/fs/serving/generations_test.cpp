#include "fs/serving/generations.hpp"

#include "core/sources/source.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// Makes generations of one small model.
class Maker {
public:
    Maker() { write_file(path(), safetensors_file({{"a", "U8", {1}, "a"}})); }
    [[nodiscard]] std::shared_ptr<Generation> make(std::uint64_t serial) const {
        Model model = Model::load(find_source(path()));
        model.map();
        return std::make_shared<Generation>(std::move(model), MountOptions{}, serial);
    }

private:
    [[nodiscard]] std::string path() const { return folder_ / "model.safetensors"; }

    TemporaryFolder folder_;
};

constexpr Inode file{View::raw, 1};

NodeId node(std::uint16_t generation) { return {generation, file}; }

}  // namespace

TEST_CASE("a node's number tells its model, the root's does not") {
    for (const int number : {0, 1, 77, NodeId::generations - 1}) {
        const auto generation = static_cast<std::uint16_t>(number);
        for (const View view : {View::raw, View::hidden, View::flat, View::npy, View::f32}) {
            for (const std::uint32_t position : {0U, 1U, 4'000'000'000U, UINT32_MAX}) {
                const NodeId id{generation, {view, position}};
                if (id.is_root()) {
                    CHECK(id.number() == 1);
                } else {
                    CHECK(NodeId::from_number(id.number()) == id);
                    CHECK(id.number() >> 62 == 0);  // as a signed number, it is positive
                }
            }
        }
    }
}

TEST_CASE("the root is of the model that is shown, other nodes of their own, and of none if it is gone") {
    const Maker maker;
    Generations generations;
    const auto first = maker.make(0);
    const auto second = maker.make(1);
    generations.show(first);
    CHECK(generations.of({}) == first);
    CHECK(generations.of(node(0)) == first);
    CHECK(generations.of(node(1)) == nullptr);
    CHECK(generations.old().empty());
    generations.show(second);
    CHECK(generations.current() == second);
    CHECK(generations.of({}) == second);
    CHECK(generations.of(node(0)) == first);
    CHECK(generations.of(node(1)) == second);
    CHECK(generations.is_current(*second));
    CHECK_FALSE(generations.is_current(*first));
    CHECK(generations.old() == std::vector{first});
    generations.sweep();
    CHECK(generations.of(node(0)) == nullptr);
    CHECK(generations.size() == 1);
}

TEST_CASE("an old model is freed when the kernel has dropped as many lookups as it counted") {
    const Maker maker;
    Generations generations;
    generations.show(maker.make(0));
    generations.current()->add_lookups(3);
    generations.show(maker.make(1));
    generations.sweep();
    CHECK(generations.size() == 2);
    generations.forget(node(0), 2);
    CHECK(generations.size() == 2);
    generations.forget(node(0), 1);
    CHECK(generations.size() == 1);
    generations.forget(node(0), 1);  // of one that is gone: nothing happens
    CHECK(generations.size() == 1);
}

TEST_CASE("the model that is shown stays, whatever the kernel forgets") {
    const Maker maker;
    Generations generations;
    generations.show(maker.make(0));
    generations.current()->add_lookups(1);
    generations.forget(node(0), 1);
    generations.forget({}, 5);  // the root is no model's own
    generations.sweep();
    CHECK(generations.size() == 1);
}

TEST_CASE("until requests made of the root before are answered, a model of which nothing is known yet stays") {
    const Maker maker;
    Generations generations;
    generations.show(maker.make(0));
    const auto asked = generations.of({});  // a lookup in the root is under way
    asked->add_lookups(1);
    generations.show(maker.make(1));
    generations.forget(node(0), 1);  // another node of it
    CHECK(generations.of(node(0)) == asked);
    asked->add_lookups(1);  // now it is answered
    generations.sweep();
    CHECK(generations.of(node(0)) == asked);
    generations.forget(node(0), 1);
    CHECK(generations.of(node(0)) == nullptr);
}

TEST_CASE("whoever serves from a model keeps it, also when it is no longer held") {
    const Maker maker;
    Generations generations;
    generations.show(maker.make(0));
    const std::shared_ptr<Generation> serving = generations.of(node(0));
    generations.show(maker.make(1));
    generations.sweep();
    CHECK(serving->volume.model().tensors().size() == 1);
    CHECK(serving.use_count() == 1);
}

TEST_CASE("where numbers begin anew, one that is still held is passed over") {
    const Maker maker;
    Generations generations;
    generations.show(maker.make(0));
    generations.current()->add_lookups(1);
    generations.show(maker.make(NodeId::generations - 1));
    generations.sweep();
    CHECK(generations.free_serial(NodeId::generations) == NodeId::generations + 1);  // node ids of 0 are in use
    generations.forget(node(0), 1);
    CHECK(generations.free_serial(NodeId::generations) == NodeId::generations);
}
