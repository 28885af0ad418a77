#include "fs/command_line/typed.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "core/base/escape.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {
namespace {

void add(CLI::App& app, const Argument& argument) {
    CLI::Option* const added = app.add_option(std::string(argument.value.name));
    added->required(argument.is_required);
    if (argument.is_repeated) added->expected(1, -1)->allow_extra_args();
}

void add(CLI::App& app, const Flag& flag) {
    const std::string names =
        flag.letter.empty() ? std::string(flag.name) : fmt::format("{},{}", flag.letter, flag.name);
    CLI::Option* const added = flag.value.name.empty() ? app.add_flag(names) : app.add_option(names);
    if (!flag.value.name.empty()) added->type_name(std::string(flag.value.name));
    if (flag.is_required) added->required();
    if (flag.is_repeated) added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (!flag.excludes.empty()) added->excludes(app.get_option(std::string(flag.excludes)));
}

}  // namespace

std::optional<Typed> Typed::parse(const Verb& verb, const std::vector<std::string>& words) {
    CLI::App app("", fmt::format("tensorfs {}", verb.name));
    app.set_help_flag("-h,--help");
    for (const Argument& argument : verb.arguments) add(app, argument);
    app.add_option(std::string(verb.list_flag))
        ->type_name("LIST")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    for (const Flag& flag : verb.flags) add(app, flag);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
    } catch (const CLI::CallForHelp&) {
        return std::nullopt;
    } catch (const CLI::ParseError& e) {
        throw Failure(ExitCode::usage, fmt::format("{} (try `{} --help`)", printable(e.what()), app.get_name()));
    }
    Typed typed;
    const auto take = [&](std::string_view name) -> std::vector<std::string>& {
        return typed.given_[std::string(name)] = app.get_option(std::string(name))->results();
    };
    typed.lists_ = app.get_option(std::string(verb.list_flag))->results();
    for (const Argument& argument : verb.arguments) take(argument.value.name);
    for (const Flag& flag : verb.flags) {
        std::vector<std::string>& texts = take(flag.name);
        if (flag.value.name.empty() && !texts.empty() && !app.get_option(std::string(flag.name))->as<bool>()) {
            texts.clear();  // --json=false
        }
        for (const std::string& text : texts) check_choice(flag.value, text, flag.name);
    }
    return typed;
}

const std::vector<std::string>& Typed::values(std::string_view name) const {
    const auto found = given_.find(name);
    if (found == given_.end()) throw std::out_of_range(fmt::format("no argument or flag {}", name));
    return found->second;
}

}  // namespace tensorfs
