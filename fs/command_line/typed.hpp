#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs/command_line/verb.hpp"

namespace tensorfs {

/// What was typed behind a verb, by the names in the verb's table. To ask for another name is a bug, and throws
/// std::out_of_range.
class Typed {
public:
    /// Nothing if help was asked for. Throws Failure (usage).
    static std::optional<Typed> parse(const Verb& verb, const std::vector<std::string>& words);

    /// The first argument: where the model is.
    [[nodiscard]] const std::string& source() const { return values("SOURCE").front(); }
    [[nodiscard]] bool has(std::string_view name) const { return !values(name).empty(); }
    /// The value of an argument or of a flag; "" if it was not given.
    [[nodiscard]] std::string value(std::string_view name) const { return has(name) ? values(name).front() : ""; }
    /// All values, in the order in which they were typed.
    [[nodiscard]] const std::vector<std::string>& values(std::string_view name) const;
    /// What followed each -o, or what the verb has instead.
    [[nodiscard]] const std::vector<std::string>& option_lists() const { return lists_; }

private:
    std::map<std::string, std::vector<std::string>, std::less<>> given_;
    std::vector<std::string> lists_;
};

}  // namespace tensorfs
