#include "fs/command_line/run_verb.hpp"

#include <optional>

#include "fs/command_line/help.hpp"
#include "fs/command_line/typed.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {

ExitCode run_verb(const Verb& verb, const std::vector<std::string>& words) {
    const std::optional<Typed> typed = Typed::parse(verb, words);
    if (typed) return verb.run(*typed);
    print(verb_help(verb));
    return ExitCode::ok;
}

}  // namespace tensorfs
