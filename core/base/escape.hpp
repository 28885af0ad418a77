#pragma once

#include <string>
#include <string_view>

namespace tensorfs {

/// `text` made safe for a terminal, a log or a listing, on one line and without loss: control
/// characters (C0, DEL, C1), line and paragraph separators, bidirectional overrides and bytes that
/// are not UTF-8 become `\n`, `\t`, `\r` or `\xNN` for each byte; a backslash becomes `\\`.
std::string printable(std::string_view text);

/// A name in quotes for a message, shortened if it is long. Not escaped: a message is, when it is
/// printed.
std::string in_quotes(std::string_view name);

/// How many bytes the UTF-8 character at the front of `text` takes: 1 to 4, or 0 where the bytes
/// there are not UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
/// REQUIRES: text is not empty.
std::size_t utf8_length(std::string_view text);

/// Whether all of `text` is UTF-8.
bool is_utf8(std::string_view text);

}  // namespace tensorfs
