#include "core/base/error.hpp"

#include <fmt/format.h>

#include <cassert>
#include <system_error>
#include <utility>

#include "core/base/escape.hpp"

namespace tensorfs {

std::string_view to_string(Kind kind) {
    switch (kind) {
        case Kind::HeaderTooSmall: return "HeaderTooSmall";
        case Kind::HeaderTooLarge: return "HeaderTooLarge";
        case Kind::InvalidHeaderLength: return "InvalidHeaderLength";
        case Kind::InvalidHeader: return "InvalidHeader";
        case Kind::InvalidHeaderDeserialization: return "InvalidHeaderDeserialization";
        case Kind::InvalidOffset: return "InvalidOffset";
        case Kind::ValidationOverflow: return "ValidationOverflow";
        case Kind::MisalignedSlice: return "MisalignedSlice";
        case Kind::TensorInvalidInfo: return "TensorInvalidInfo";
        case Kind::MetadataIncompleteBuffer: return "MetadataIncompleteBuffer";
        case Kind::DuplicateName: return "DuplicateName";
        case Kind::InvalidIndex: return "InvalidIndex";
        case Kind::InvalidShardPath: return "InvalidShardPath";
        case Kind::MissingShard: return "MissingShard";
        case Kind::MissingTensor: return "MissingTensor";
        case Kind::NotRegularFile: return "NotRegularFile";
        case Kind::RunsCode: return "RunsCode";
        case Kind::NoSuchSource: return "NoSuchSource";
        case Kind::NotAModel: return "NotAModel";
        case Kind::AmbiguousSource: return "AmbiguousSource";
        case Kind::SystemError: return "SystemError";
        case Kind::InvalidArchive: return "InvalidArchive";
        case Kind::CompressedMember: return "CompressedMember";
        case Kind::InvalidArrayHeader: return "InvalidArrayHeader";
        case Kind::UnsupportedDtype: return "UnsupportedDtype";
        case Kind::InvalidPickle: return "InvalidPickle";
        case Kind::MissingStorage: return "MissingStorage";
        case Kind::StorageOutOfBounds: return "StorageOutOfBounds";
        case Kind::BigEndian: return "BigEndian";
        case Kind::UnsupportedVersion: return "UnsupportedVersion";
        case Kind::DuplicateKey: return "DuplicateKey";
        case Kind::SplitMismatch: return "SplitMismatch";
    }
    return "Unknown";
}

std::string to_string(const Problem& problem) {
    std::string line = fmt::format("{}: {}: ", printable(problem.path), to_string(problem.kind));
    if (!problem.tensor.empty()) line += fmt::format("tensor \"{}\": ", printable(problem.tensor));
    return line + printable(problem.text);
}

Error::Error(Problem problem) : Error(std::vector<Problem>{std::move(problem)}) {}

Error::Error(std::vector<Problem> problems) : problems_(std::move(problems)) {
    assert(!problems_.empty());
    for (const Problem& problem : problems_) {
        if (!text_.empty()) text_ += '\n';
        text_ += to_string(problem);
    }
}

Problem system_problem(std::string path, std::string_view doing, int error_number) {
    return {Kind::SystemError, std::move(path), {}, fmt::format("{}: {}", doing, system_message(error_number))};
}

std::string system_message(int error_number) { return std::generic_category().message(error_number); }

}  // namespace tensorfs
