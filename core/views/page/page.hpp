#pragma once

#include <string>

#include "core/model/model.hpp"
#include "core/model/tree.hpp"

namespace tensorfs {

/// Whether the page stands in a mount's .tensorfs, beside the views that it links to, or somewhere else.
enum class PagePlace { mount, anywhere };

/// The model as a page of HTML to be looked into: a map of its tensors by folder, a table of them, metadata, problems.
/// It is one file that fetches nothing, but of the mount that it stands in. Its size is a few dozen bytes a tensor, and
/// what the metadata take as JSON; of more than 32 MiB of that, arrays are left out. Throws Error.
///
/// No text of the source becomes markup: all is JSON in a <script> that is no program, without '<', '>' and '&'; and
/// the page's policy (CSP) allows no script and no style but its own, by their hashes.
std::string page(const Model& model, const Tree& tree, PagePlace place);

}  // namespace tensorfs
