#include "fs/serving/read_reply.hpp"

#include <algorithm>

namespace tensorfs {
namespace {

/// writev(2) takes up to IOV_MAX, which is 1024; one is the reply's header.
constexpr std::size_t most_slices = 512;

}  // namespace

ReadReply::ReadReply(Generation& generation, const std::vector<Content::Piece>& pieces)
    : generation_(generation), pieces_(pieces), copies_all_(pieces.size() > most_slices) {
    slices_.reserve(std::min(pieces.size(), most_slices));
    std::uint64_t copied = 0;
    for (const Content::Piece& piece : pieces) copied += is_copied(piece) ? piece.nbytes : 0;
    if (copied != 0) copies_ = std::make_unique_for_overwrite<std::byte[]>(copied);
}

int ReadReply::prepare() {
    std::byte* copy = copies_.get();
    const Shard* checked = nullptr;
    for (const Content::Piece& piece : pieces_) {
        if (piece.shard != nullptr && piece.shard != checked) {
            if (const int error = generation_.faults.check(*piece.shard)) return error;
            checked = piece.shard;
        }
        if (is_copied(piece)) {
            if (!generation_.paging.copy(piece, copy)) return generation_.faults.unreadable(*piece.shard);
            add(copy, piece.nbytes);
            copy += piece.nbytes;
        } else {
            if (piece.shard != nullptr && !generation_.paging.fetch(piece))
                return generation_.faults.unreadable(*piece.shard);
            add(piece.data, piece.nbytes);
        }
    }
    return 0;
}

std::optional<std::uint64_t> ReadReply::send(fuse_req_t request) {
    // If the bytes vanish between the check and here, the kernel answers EIO in our stead.
    const bool is_sent = fuse_reply_iov(request, slices_.data(), static_cast<int>(slices_.size())) == 0;
    if (!is_sent) return std::nullopt;
    std::uint64_t bytes = 0;
    for (const iovec& slice : slices_) bytes += slice.iov_len;
    return bytes;
}

void ReadReply::release() {
    for (const Content::Piece& piece : pieces_) {
        if (piece.shard != nullptr) generation_.paging.sent(piece);
    }
}

bool ReadReply::is_copied(const Content::Piece& piece) const {
    return copies_all_ || piece.must_be_copied() || (piece.shard != nullptr && generation_.paging.prefers_copy(piece));
}

void ReadReply::add(const std::byte* data, std::uint64_t nbytes) {
    if (!slices_.empty() && static_cast<std::byte*>(slices_.back().iov_base) + slices_.back().iov_len == data) {
        slices_.back().iov_len += nbytes;
    } else {
        slices_.push_back({const_cast<std::byte*>(data), nbytes});  // writev only reads
    }
}

}  // namespace tensorfs
