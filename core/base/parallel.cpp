#include "core/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tensorfs {

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work, std::size_t threads) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;

    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                next = count;
            }
        }
    };

    if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t wanted = std::min(count, threads);
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < wanted; ++i) {
        try {
            others.emplace_back(run);
        } catch (const std::system_error&) {
            break;  // no more threads to be had
        }
    }
    run();
    for (std::thread& thread : others) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tensorfs
