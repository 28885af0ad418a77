#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace tensorfs {

/// What can be wrong with a source. The first ten are the names that the reference implementation
/// (the Rust crate `safetensors`) gives to the same faults; the rest are ours, in the same style.
enum class Kind {
    HeaderTooSmall,                // the file is shorter than the 8-byte header length
    HeaderTooLarge,                // the header length is over 100,000,000 bytes
    InvalidHeaderLength,           // the header ends after the file does
    InvalidHeader,                 // the header is not UTF-8
    InvalidHeaderDeserialization,  // the header is not the JSON that the format asks for
    InvalidOffset,                 // a tensor does not begin where the one before it ends
    ValidationOverflow,            // shape times element size does not fit 64 bits
    MisalignedSlice,               // sub-byte elements that do not fill whole bytes
    TensorInvalidInfo,             // shape and dtype need another number of bytes than the offsets give
    MetadataIncompleteBuffer,      // the tensors end before or after the file does

    DuplicateName,     // a tensor's name stands twice
    InvalidIndex,      // the index is not JSON, has no weight_map, or names what is not a shard
    InvalidShardPath,  // the index names a shard outside its folder
    MissingShard,      // a shard that the index names is not there
    MissingTensor,     // the index places a tensor in a shard that does not have it
    NotRegularFile,    // a FIFO, device, socket or folder stands where a shard should
    RunsCode,          // a loader would call what the file names, and that was not to be
    NoSuchSource,      // nothing is at the path that was given
    NotAModel,         // something is there, but nothing that is read as a model
    AmbiguousSource,   // several models are there and nothing says which is meant
    SystemError,       // the operating system refused: permissions, I/O, memory map, limits

    InvalidArchive,      // a zip archive was cut short, or contradicts itself
    CompressedMember,    // nothing in an archive lies there as it is: all is compressed or encrypted
    InvalidArrayHeader,  // a NumPy array does not begin with its header
    UnsupportedDtype,    // nothing there has a type that can be shown
    InvalidPickle,       // a pickle breaks a rule of pickles, or of PyTorch's use of them
    MissingStorage,      // a checkpoint does not hold the bytes of one of its storages
    StorageOutOfBounds,  // a tensor reaches beyond its storage, or a storage beyond its bytes
    BigEndian,           // numbers stand with their highest byte first
    UnsupportedVersion,  // the file is of a version of its format that is not read
    DuplicateKey,        // a key of a file's metadata stands twice
    SplitMismatch,       // the files of a split do not belong together, or are not all there
};

/// The kind's name as users see it and scripts match it, such as "InvalidOffset".
std::string_view to_string(Kind kind);

/// One thing wrong with a source.
struct Problem {
    Kind kind;
    std::string path;    // the file or folder it is about
    std::string tensor;  // the tensor it is about; empty where it is not about one
    std::string text;    // the rule that was broken, and how
};

/// "PATH: KIND: what is wrong", in one line that is safe to print: what came from the source is
/// escaped (see printable()).
std::string to_string(const Problem& problem);

/// The one exception that loading throws: everything found wrong, at least one problem.
class Error : public std::exception {
public:
    explicit Error(Problem problem);
    /// REQUIRES: problems is not empty.
    explicit Error(std::vector<Problem> problems);

    [[nodiscard]] const std::vector<Problem>& problems() const noexcept { return problems_; }
    /// All problems, a line each.
    [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

private:
    std::vector<Problem> problems_;
    std::string text_;
};

/// A SystemError about `path` that says what was tried and what errno value came of it.
Problem system_problem(std::string path, std::string_view doing, int error_number);

/// What the system calls an errno value.
std::string system_message(int error_number);

}  // namespace tensorfs
