#include "core/sources/set_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace tensorfs {
namespace {

constexpr std::string_view digits = "0123456789";

/// Cuts `suffix` off the end of `text` if it stands there.
bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

/// Cuts digits off the end of `text`; nothing if there are none or too many.
std::optional<unsigned long> take_number(std::string_view& text) {
    const std::string_view found = text.substr(text.find_last_not_of(digits) + 1);
    unsigned long number = 0;
    if (found.empty() || std::from_chars(found.data(), found.data() + found.size(), number).ec != std::errc{})
        return std::nullopt;
    text.remove_suffix(found.size());
    return number;
}

/// Cuts "-00001-of-00003" off the end of `text` if it stands there, behind something.
bool take_place(std::string_view& text, SetName& name) {
    std::string_view rest = text;
    const auto count = take_number(rest);
    if (!count || !take_suffix(rest, "-of-")) return false;
    const auto number = take_number(rest);
    if (!number || !take_suffix(rest, "-") || rest.empty()) return false;
    text = rest;
    name.number = *number;
    name.count = *count;
    return true;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_alike(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// The words that are variants behind a base: precisions, and which weights of a training they are.
constexpr std::array<std::string_view, 17> variant_words{"fp8",  "fp16", "fp32", "bf16", "f8",     "f16",
                                                         "f32",  "int4", "int8", "nf4",  "fp4",    "4bit",
                                                         "8bit", "q4",   "q8",   "ema",  "non_ema"};

bool is_variant_word(std::string_view word) {
    return std::find(variant_words.begin(), variant_words.end(), word) != variant_words.end();
}

/// How the names of quantisations begin: F16, Q4_0, Q4_K_M, IQ2_XXS, TQ1_0, MXFP4_MOE and so on. (llama.cpp,
/// llama_ftype_name.) Behind that, more may follow an underscore.
constexpr std::array<std::string_view, 11> quantisations{"f16", "f32", "bf16",  "fp16",  "fp32", "q#",
                                                         "iq#", "tq#", "mxfp#", "nvfp#", "q##"};

bool is_quantisation(std::string_view word) { return fits_any(word.substr(0, word.find('_')), quantisations); }

/// "BASE.VARIANT" to its two parts. Only a well-known word is a variant: in "model.layers.0" the rest
/// is a part of the base.
void split_variant(std::string_view text, SetName& name, Variants variants) {
    const bool has_words = variants == Variants::words;
    const std::size_t at = text.find_last_of(has_words ? "." : ".-");
    const std::string_view word = text.substr(at + 1);  // all of it where there is no base
    const bool is_variant = has_words ? at != std::string_view::npos && is_variant_word(word) : is_quantisation(word);
    name.base = text.substr(0, !is_variant ? text.size() : at == std::string_view::npos ? 0 : at);
    if (is_variant) name.variant = word;
}

/// The variant behind a number: "BASE-00001-of-00003.VARIANT".
bool take_variant_behind_place(std::string_view text, SetName& name, Variants variants) {
    const std::size_t at = text.find_last_of(variants == Variants::words ? "." : ".-");
    if (at == std::string_view::npos || at + 1 == text.size()) return false;
    std::string_view rest = text.substr(0, at);
    if (!take_place(rest, name)) return false;
    name.base = rest;
    name.variant = text.substr(at + 1);
    return true;
}

/// Cuts the suffix of one of the format's files off the end of `name`; which one, or "".
std::string_view take_format_suffix(std::string_view& name, const FileNames& files) {
    for (const std::string_view suffix : files.suffixes) {
        if (take_suffix(name, suffix)) return suffix;
    }
    return !files.shared_suffix.empty() && take_suffix(name, files.shared_suffix) ? files.shared_suffix
                                                                                  : std::string_view();
}

/// What stands behind the base in an index's name: ".safetensors.".
std::string middle_of(const FileNames& files) { return fmt::format("{}.", files.indexed); }

bool is_index_of(std::string_view name, const FileNames& files) {
    return !files.indexed.empty() && name.find(middle_of(files)) != std::string_view::npos;
}

}  // namespace

bool fits(std::string_view stem, std::string_view pattern) {
    // Where it went on behind the latest '*', to be tried again one character later.
    std::size_t star = std::string_view::npos;
    std::size_t again = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < stem.size();) {
        const char wanted = at < pattern.size() ? pattern[at] : '\0';
        if (wanted == '*') {
            star = at++;
            again = i;
        } else if (wanted == '#' ? digits.find(stem[i]) != std::string_view::npos
                                 : at < pattern.size() && lower(wanted) == lower(stem[i])) {
            ++i;
            ++at;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            i = ++again;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool fits_any(std::string_view stem, std::span<const std::string_view> patterns) {
    return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) { return fits(stem, pattern); });
}

std::optional<SetName> parse_shard_name(std::string_view name, const FileNames& files) {
    if (name.starts_with('.')) return std::nullopt;
    const std::string_view suffix = take_format_suffix(name, files);
    if (suffix.empty() || name.empty() || fits_any(name, files.others)) return std::nullopt;
    SetName parts;
    std::string_view rest = name;
    if (take_place(rest, parts)) {
        split_variant(rest, parts, files.variants);
    } else if (!take_variant_behind_place(name, parts, files.variants)) {
        split_variant(name, parts, files.variants);
    }
    const auto is_known = [&] {
        return std::find(files.bases.begin(), files.bases.end(), parts.base) != files.bases.end();
    };
    if (suffix == files.shared_suffix && !is_known()) return std::nullopt;
    return parts;
}

std::optional<SetName> parse_index_name(std::string_view name, const FileNames& files) {
    if (files.indexed.empty() || name.starts_with('.') || !take_suffix(name, ".json")) return std::nullopt;
    for (const FileNames* other : file_names::all) {
        if (other->indexed.empty() || other->indexed == files.indexed) continue;
        if (name.find(fmt::format("{}.index", other->indexed)) != std::string_view::npos) return std::nullopt;
    }
    const std::string middle = middle_of(files);
    const std::size_t at = name.find(middle);
    std::string_view head = name.substr(0, at);
    std::string_view tail = at == std::string_view::npos ? std::string_view() : name.substr(at + middle.size());
    SetName parts;
    if (at == std::string_view::npos ? take_suffix(head, ".index") : tail == "index") {
        split_variant(head, parts, files.variants);
    } else if (tail.starts_with("index.")) {
        parts = {std::string(head), std::string(tail.substr(tail.find('.') + 1))};
    } else if (take_suffix(tail, ".index")) {
        parts = {std::string(head), std::string(tail)};
    }
    if (parts.base.empty()) return std::nullopt;
    return parts;
}

const Format* format_of_index(std::string_view name, std::span<const Format> formats) {
    const auto found = std::find_if(formats.begin(), formats.end(), [&](const Format& format) {
        return is_index_of(name, format.files) && parse_index_name(name, format.files);
    });
    return found == formats.end() ? nullptr : &*found;
}

bool is_of_variant(const SetName& name, std::string_view variant, Variants variants) {
    if (name.variant == variant) return true;
    if (variant.empty()) return false;
    if (variants == Variants::words) {
        return name.base.size() > variant.size() && name.base.ends_with(variant) &&
               name.base[name.base.size() - variant.size() - 1] == '.';
    }
    const std::string all = name.variant.empty() ? name.base : fmt::format("{}-{}", name.base, name.variant);
    if (all.size() < variant.size()) return false;
    const std::size_t at = all.size() - variant.size();
    // An underscore is a part of Q4_K_M, but may stand before it in a base that was not cut.
    const std::string_view separators = at > name.base.size() ? "-." : "-._";
    const bool begins = at == 0 || separators.find(all[at - 1]) != std::string_view::npos;
    return begins && is_alike(std::string_view(all).substr(at), variant);
}

bool is_of_variant(std::string_view file, std::string_view variant, std::span<const Format> formats) {
    return std::any_of(formats.begin(), formats.end(), [&](const Format& format) {
        const std::optional<SetName> index = parse_index_name(file, format.files);
        const std::optional<SetName> shard = parse_shard_name(file, format.files);
        return (index && is_of_variant(*index, variant, format.files.variants)) ||
               (shard && is_of_variant(*shard, variant, format.files.variants));
    });
}

std::string with_number(std::string_view name, unsigned long number) {
    const std::size_t of = name.rfind("-of-");
    const std::size_t dash = name.rfind('-', of - 1);
    return fmt::format("{}{:0{}}{}", name.substr(0, dash + 1), number, of - dash - 1, name.substr(of));
}

}  // namespace tensorfs
