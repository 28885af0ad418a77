#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tensorfs {

/// What a shell offers where a value is to be typed. Where a value is one of a few words, these are offered.
enum class Completes : std::uint8_t {
    nothing,
    folder,
    file,
    source,    // whatever stands for a model
    tensor,    // a name of one in the source that was typed
    pattern,   // the same, or a shell pattern for such names
    index,     // a *.json in the source's folder
    revision,  // a branch, tag or commit that the Hub's cache has of the source
};

/// A value that is typed: an argument, or what follows a flag or a mount option.
struct Value {
    std::string_view name{};  // as help writes it, such as "MODE"; empty where no value is taken
    Completes completes = Completes::nothing;
    std::string_view choices{};  // all that it may be, as "keep|once|direct"; empty where that is no short list
};

/// The words of Value::choices.
std::vector<std::string_view> choices_of(const Value& value);

/// Throws Failure (usage) unless `text` is one of the value's choices or it has none. `where` is what stands before
/// the value on the command line, such as "-o cache=:".
void check_choice(const Value& value, std::string_view text, std::string_view where);

}  // namespace tensorfs
