#pragma once

// The Hugging Face Hub's local cache: models--ORG--NAME/ holds blobs/, refs/ and snapshots/. A file
// refs/REVISION holds the name of a folder in snapshots/, whose files are symbolic links into blobs/,
// or real files where links are not to be had. (huggingface_hub, "Understand caching".)

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tensorfs {

/// Whether `text` can be a Hub id: ORG/NAME or NAME, of letters, digits, '-', '_' and '.'.
bool is_hub_id(std::string_view text);

/// The cache: HF_HUB_CACHE, else HUGGINGFACE_HUB_CACHE (its old name), else HF_HOME/hub, else
/// XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub. In these, "~" at the beginning and $VARIABLE or
/// ${VARIABLE} are expanded. Empty if no variable tells.
std::string hub_cache();

/// The folder of a model in the cache, whether it is there or not.
std::string hub_folder(const std::string& cache, std::string_view id);

/// Whether a folder with these names in it is such a models--ORG--NAME.
bool is_hub_folder(const std::vector<std::string>& names);

/// The snapshot of a revision in such a folder: a branch or tag by refs/, else a commit, also
/// shortened. An empty revision is "main"; where refs/main is absent, the only snapshot there is.
/// Throws Error: NoSuchSource, AmbiguousSource or SystemError.
std::string hub_snapshot(const std::string& folder, const std::string& revision);

}  // namespace tensorfs
