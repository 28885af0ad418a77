#pragma once

#include <memory>

#include "fs/serving/generation.hpp"
#include "fs/serving/kernel_cache.hpp"
#include "fs/serving/served.hpp"

namespace tensorfs {

// How a reload puts one model in another's place while the mount is in use. The kernel caches for ever what it was
// told, and requests may be under way at any step, so the steps and their order are one protocol:
//
//  1. The next generation gets a serial number whose tag no generation held has (Generations::free_serial): no node id
//     that the kernel knows, and no directory offset, can mean a node of both.
//  2. It becomes current (Generations::show). From here on each new request that names the root resolves to it;
//     requests that resolved the root before still answer from the old one. Requests for any other node go to the
//     generation in its node id, so what is open goes on unchanged.
//  3. is_forgetting_root is set: listings of the root get short, since step 5 waits for each that is under way.
//  4. The kernel forgets the root's listing and attributes, then the name .tensorfs. To forget a name, it takes the
//     root's lock, so when that returns, the answers of the requests of step 2 have arrived: which of the old root's
//     nodes it knows, and which names it was denied, is settled and can be asked.
//  5. The kernel forgets each name of the old root whose node it knows, and each name of the new root that a lookup of
//     before may not have found (NegativeNames). All other names it does not have.
//     A listing of the old root that goes on after this, by its directory offset, is answered from the old generation
//     (ListingReply), but without lookups, so it cannot bring an old name back.
//  6. It forgets the root's listing once more, for listings that were under way in step 5 have cached entries.
//     is_forgetting_root is cleared.
//  7. No request of step 2 is left. Old generations whose lookup count is 0 are freed (Generations::sweep), and from
//     here on FORGET frees one that reaches 0. Before this step it must not: a request of step 2 could be about to
//     raise the count again.
//  8. What was in use at step 5 keeps its node and its name in its folder, also when it is no longer used. The
//     supervisor calls forget_old_models() now and then, which makes the kernel forget names below the root; FORGET
//     follows for what nobody uses, and frees the generation as in step 7.

/// Steps 1 to 7: the mount shows `model` from now on. One thread at a time, none that answers requests. Returns the new
/// current generation. Throws std::bad_alloc before step 2, or leaves the kernel with names of the old root.
std::shared_ptr<const Generation> switch_model(Served& served, KernelCache& kernel, Model model,
                                               const MountOptions& options);

/// Step 8. The same thread, or not at the same time.
void forget_old_models(Served& served, KernelCache& kernel);

}  // namespace tensorfs
