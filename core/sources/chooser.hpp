#pragma once

#include <string>
#include <vector>

#include "core/sources/candidate.hpp"
#include "core/sources/choice.hpp"

namespace tensorfs {

/// Narrows the candidates of one folder down to the set that is meant, by the rules of layout.hpp.
class Chooser {
public:
    /// `names` are the folder's; all of them outlive the chooser.
    Chooser(const std::string& folder, const std::vector<std::string>& names, std::vector<Candidate> candidates,
            const Choice& choice)
        : folder_(folder), names_(names), left_(std::move(candidates)), choice_(choice) {}

    /// Throws Error: AmbiguousSource, NoSuchSource, or DuplicateName for files that are pieces of the same tensors.
    /// To be called once.
    Candidate choose();

    /// What was passed over for the one that is shown.
    [[nodiscard]] std::vector<std::string> notes(const Candidate& shown) const;

    /// A file that was passed over, and is a whole model by itself, for one that turns out to lack shards; or "".
    [[nodiscard]] std::string instead_of(const Candidate& shown) const;

private:
    /// Keeps those that `wanted` accepts, if there are any.
    template <typename Wanted>
    bool prefer(const Wanted& wanted);
    void choose_variant();
    void prefer_first_format();
    void prefer_plain();
    void prefer_known_base();
    void join_loose_files();
    void check_only_one() const;
    [[nodiscard]] bool is_there(const Candidate& candidate) const;

    const std::string& folder_;
    const std::vector<std::string>& names_;
    std::vector<Candidate> left_;
    std::vector<Candidate> passed_over_;
    const Choice& choice_;
};

}  // namespace tensorfs
