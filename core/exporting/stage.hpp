#pragma once

#include <string>
#include <vector>

#include "core/base/descriptor.hpp"
#include "core/exporting/output_file.hpp"

namespace tensorfs {

/// Files that are written where nobody takes them for a model, and appear under their names at once when all is there:
/// in a hidden folder, .tensorfs-export-XXXXXXXX, beside the target. What was not published is removed with the stage.
/// It belongs to one thread. All throw TargetError.
class Stage {
public:
    enum class Target {
        file,           // the one file of the stage
        new_folder,     // what the stage's folder becomes
        present_folder  // where the files of the stage are moved to
    };

    /// `path` is the target; a folder that is there has the stage in it, anything else beside it.
    Stage(std::string path, Target target);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    /// Makes a file. Its permissions are the umask's, as for any program.
    [[nodiscard]] OutputFile create(const std::string& name);
    /// Throws if a disk with so few bytes left cannot take these.
    void check_space(std::uint64_t nbytes) const;
    /// Gives the files their places, in the order in which they were made, and returns when that is on the disk, too.
    /// What is in the way is replaced, if it may be; else there must be nothing.
    void publish(bool may_replace);

private:
    void remove() noexcept;
    void move_file(const std::string& name, const std::string& to, bool may_replace);
    [[noreturn]] void fail(const std::string& path, int error) const;

    std::string path_;
    Target target_;
    std::string base_;   // of the target, in parent_
    Descriptor parent_;  // the folder in which the stage is
    std::string name_;   // of the stage, in parent_
    Descriptor folder_;  // the stage
    std::vector<std::string> files_;
    std::size_t moved_ = 0;  // how many of them
};

}  // namespace tensorfs
