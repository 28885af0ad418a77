#pragma once

#include <cstddef>
#include <functional>

namespace tensorfs {

/// Calls work(0) … work(count - 1), each once, on as many threads as the machine has processors, or
/// on so many as are asked for, and returns when all are done. Does with fewer threads, or with the caller's alone,
/// where the system gives no more. The first exception that `work` throws is thrown again here, after all threads have
/// stopped; calls not begun by then are left out.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work, std::size_t threads = 0);

}  // namespace tensorfs
