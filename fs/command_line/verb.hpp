#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fs/options/mount_option.hpp"
#include "fs/options/value.hpp"
#include "fs/terminal/exit_code.hpp"

namespace tensorfs {

class Typed;

/// What stands behind a verb without a dash: SOURCE, NAME.
struct Argument {
    Value value;
    std::string_view help;           // one line
    std::string_view manual{};       // in mdoc(7); empty if the verb's own text tells all
    std::string_view alternative{};  // what else may stand there, for the usage line, such as "MOUNTPOINT"
    bool is_required = true;
    bool is_repeated = false;
};

/// --json, or --format and its value. Verb::list_flag, -h and --help are taken by all verbs, and stand in no table.
struct Flag {
    std::string_view name;        // "--json"
    std::string_view letter{};    // "-f", or empty
    Value value{};                // what follows it; without a name if nothing does
    std::string_view help;        // one line
    std::string_view manual;      // in mdoc(7)
    std::string_view excludes{};  // the flag before it in the table, if only one of the two can be given
    bool is_required = false;
    bool is_repeated = false;  // it may be given several times, each with a value
};

/// A verb: what parsing, --help, the manual and completion are made from, and what runs it.
struct Verb {
    std::string_view name;
    std::string_view summary;             // one line
    std::string_view manual;              // in mdoc(7); what its arguments and flags say of themselves follows it
    std::span<const Argument> arguments;  // the first is SOURCE
    std::span<const Flag> flags{};
    bool (*takes)(const MountOption&);    // which mount options it has a use for, for help and completion
    std::string_view about_options{};     // what help says below these
    std::string_view list_flag = "-o";    // what these are given by
    ExitCode (*run)(const Typed& typed);  // prints to standard output; throws Error or Failure
};

/// What a verb takes, as a line of its usage: "SOURCE [--json|--names] [-o LIST]".
std::string usage(const Verb& verb);

/// Whether an option is about the source: what most verbs take.
constexpr bool is_of_source(const MountOption& option) { return option.is_of_source; }

}  // namespace tensorfs
