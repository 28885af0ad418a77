#include "core/exporting/copy.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/views/zip_writer.hpp"

namespace tensorfs {
namespace {

// Large enough for the system's calls to cost little, and multiples of what any block becomes.
constexpr std::uint64_t task_size = 64 << 20;
constexpr std::uint64_t copy_step = 8 << 20;      // within the kernel: as often it is asked whether to go on
constexpr std::uint64_t buffer_size = 256 << 10;  // stays in a core's cache
constexpr std::uint64_t gather_size = 8 << 20;    // what lies apart is read in long runs

/// A range of the file for one thread: a tensor or a part of one, or several that are copied as they lie.
struct Task {
    std::uint64_t begin;
    std::uint64_t nbytes;
    std::size_t place;  // the first tensor's
    bool is_plain;
};

std::vector<Task> tasks_of(const ModelFile& file, bool with_checksums) {
    std::vector<Task> tasks;
    for (std::size_t place = 0; place < file.places.size(); ++place) {
        const auto& [begin, tensor] = file.places[place];
        const bool is_plain = !with_checksums && !tensor.is_converted() && !tensor.tensor->is_strided();
        const std::uint64_t nbytes = tensor.nbytes();
        for (std::uint64_t at = 0; at < nbytes; at += task_size) {
            const Task task{begin + at, std::min(task_size, nbytes - at), place, is_plain};
            const bool continues = is_plain && !tasks.empty() && tasks.back().is_plain &&
                                   tasks.back().begin + tasks.back().nbytes == task.begin &&
                                   tasks.back().nbytes + task.nbytes <= task_size;
            if (continues) {
                tasks.back().nbytes += task.nbytes;
            } else {
                tasks.push_back(task);
            }
        }
    }
    return tasks;
}

class Copier {
public:
    Copier(const ModelFile& file, const std::vector<Shard>& shards, const OutputFile& out, bool with_checksums,
           const ExportWatch& watch)
        : file_(file),
          shards_(shards),
          out_(out),
          with_checksums_(with_checksums),
          watch_(watch),
          tasks_(tasks_of(file, with_checksums)),
          checksums_(with_checksums ? tasks_.size() : 0),
          overflows_(tasks_.size()) {}

    Copied copy() {
        in_parallel(tasks_.size(), [this](std::size_t task) { run(task); });
        Copied copied;
        copied.checksums.resize(with_checksums_ ? file_.places.size() : 0);
        copied.overflows.resize(file_.places.size());
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            const std::size_t place = tasks_[i].place;
            copied.overflows[place] += overflows_[i];
            if (!with_checksums_) continue;
            copied.checksums[place] = joined_checksum(copied.checksums[place], checksums_[i], tasks_[i].nbytes);
        }
        return copied;
    }

private:
    void run(std::size_t number) {
        const Task& task = tasks_[number];
        const std::uint64_t end = task.begin + task.nbytes;
        const std::uint64_t step = task.is_plain                                          ? task_size
                                   : file_.places[task.place].tensor.tensor->is_strided() ? gather_size
                                                                                          : buffer_size;
        std::vector<std::byte> buffer(task.is_plain ? 0 : std::min(step, task.nbytes));
        std::vector<Content::Piece> pieces;
        for (std::uint64_t at = task.begin; at < end;) {
            pieces.clear();
            file_.content.gather(at, std::min(step, end - at), shards_, pieces);
            for (const Content::Piece& piece : pieces) {
                if (task.is_plain) {
                    copy_plain(piece, at);
                } else {
                    copy_made(piece, at, number, std::span(buffer).first(piece.nbytes));
                }
                if (!piece.shard->is_unchanged())
                    throw Error({Kind::SystemError, piece.shard->path(), {}, "it was changed while it was read"});
                at += piece.nbytes;
            }
        }
        out_.start_writing_back(task.begin, task.nbytes);
    }

    /// What goes as it lies.
    void copy_plain(const Content::Piece& piece, std::uint64_t at) {
        std::uint64_t done = 0;
        while (can_copy_ && done < piece.nbytes) {
            const std::uint64_t size = std::min(copy_step, piece.nbytes - done);
            const std::uint64_t copied = out_.copy(*piece.shard, piece.offset + done, size, at + done);
            if (copied < size) can_copy_ = false;  // the rest is read and written, here and elsewhere
            done += copied;
            went_on(copied);
        }
        std::vector<std::byte> buffer(std::min(buffer_size, piece.nbytes - done));
        while (done < piece.nbytes) {
            const std::span<std::byte> bytes = std::span(buffer).first(std::min(buffer_size, piece.nbytes - done));
            if (!piece.shard->copy(piece.offset + done, bytes)) lost(piece);
            out_.write(at + done, bytes);
            done += bytes.size();
            went_on(bytes.size());
        }
    }

    /// What is computed, or must be looked at for its checksum. REQUIRES: the buffer has the size of the piece.
    void copy_made(const Content::Piece& piece, std::uint64_t at, std::size_t task, std::span<std::byte> buffer) {
        if (!piece.copy_to(buffer.data(), nullptr, {}, &overflows_[task])) lost(piece);
        if (with_checksums_) {
            const std::uint32_t checksum = zip_checksum({reinterpret_cast<const char*>(buffer.data()), buffer.size()});
            checksums_[task] = joined_checksum(checksums_[task], checksum, buffer.size());
        }
        out_.write(at, buffer);
        went_on(buffer.size());
    }

    [[noreturn]] static void lost(const Content::Piece& piece) {
        throw Error({Kind::SystemError, piece.shard->path(), {}, "its bytes cannot be read"});
    }

    void went_on(std::uint64_t nbytes) const {
        watch_.wrote(nbytes);
        if (watch_.is_stopped()) throw ExportStopped();
    }

    const ModelFile& file_;
    const std::vector<Shard>& shards_;
    const OutputFile& out_;
    const bool with_checksums_;
    const ExportWatch& watch_;
    const std::vector<Task> tasks_;
    std::vector<std::uint32_t> checksums_;  // by task, as are the next
    std::vector<std::uint64_t> overflows_;
    std::atomic<bool> can_copy_{true};
};

}  // namespace

Copied copy_tensors(const ModelFile& file, const std::vector<Shard>& shards, const OutputFile& out, bool with_checksums,
                    const ExportWatch& watch) {
    return Copier(file, shards, out, with_checksums, watch).copy();
}

void write_made(const ModelFile& file, const OutputFile& out) {
    // Between the tensors, and behind the last.
    const auto write = [&](std::uint64_t begin, std::uint64_t end) {
        std::vector<Content::Piece> pieces;
        file.content.gather(begin, end - begin, {}, pieces);
        for (const Content::Piece& piece : pieces) {
            out.write(begin, {piece.data, piece.nbytes});
            begin += piece.nbytes;
        }
    };
    std::uint64_t at = 0;
    for (const ModelFile::Place& place : file.places) {
        if (at < place.begin) write(at, place.begin);
        at = place.begin + place.tensor.nbytes();
    }
    if (at < file.content.size()) write(at, file.content.size());
}

}  // namespace tensorfs
