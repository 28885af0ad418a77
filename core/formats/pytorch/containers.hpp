#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/pickle/pickle.hpp"

namespace tensorfs::pytorch {

/// How many containers may stand in each other on the way to a tensor.
inline constexpr std::size_t max_depth = 64;

/// What stands in a container, and under which key: a value of the pickle, or the position as an integer.
struct Child {
    pickle::Handle key, value;
};

/// What is followed on the way to tensors, in order; nothing for a value that is not followed:
///   a list or tuple              its elements, by position
///   a dict, and what a call of   its items; an attribute that BUILD sets is none
///   OrderedDict, defaultdict,
///   Counter or dict makes
///   a module of any class        the items of its state's _parameters, _buffers and _modules: the names
///                                are then those of its state_dict()
/// Objects of all other classes are opaque.
std::vector<Child> children(const pickle::Pickle& pickle, pickle::Handle value);

/// Whether a value could have children at all. Takes constant time, and errs on the side of true.
bool is_container(const pickle::Pickle& pickle, pickle::Handle value);

/// A key as part of a name, perhaps in `scratch`: a text as it is, bytes as UTF-8, an integer and a bool in
/// decimal. Nothing for any other key, or where it is not UTF-8.
std::optional<std::string_view> key_text(const pickle::Pickle& pickle, pickle::Handle key, std::string& scratch);

/// Appends a part to a name; `depth` is the number of parts before it.
void append_part(std::string& name, std::size_t depth, std::string_view part);

}  // namespace tensorfs::pytorch
