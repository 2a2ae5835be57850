// SPDX-License-Identifier: MIT
// Runs work on the threads of OpenMP.
#include "cpu_threads.hpp"

#include <algorithm>
#include <exception>

#if defined(__SANITIZE_THREAD__) // ThreadSanitizer does not understand the synchronization of OpenMP
#include <mutex>
#include <thread>
#include <vector>
#elif defined(_OPENMP) && __has_include(<omp.h>)
#include <omp.h>
#define ATON_HAS_THREADS
#endif

namespace ATON_NAMESPACE::runtime::kernels {

#if defined(__SANITIZE_THREAD__)

void run_parts(std::int64_t count, std::int64_t min_elements, void const* context,
               void (*f)(void const*, std::int64_t, std::int64_t)) {
    static thread_local bool is_part = false;
    constexpr std::int64_t max_parts = 4;
    std::int64_t const parts = is_part ? 1 : std::min(max_parts, (count + min_elements - 1) / min_elements);
    if (parts <= 1) return count == 0 ? void() : f(context, 0, count);
    std::exception_ptr fault;
    std::mutex of_fault;
    std::vector<std::thread> threads;
    for (std::int64_t i = 0; i != parts; ++i)
        threads.emplace_back([&, i] {
            is_part = true;
            try {
                f(context, count * i / parts, count * (i + 1) / parts);
            } catch (...) {
                std::scoped_lock const lock(of_fault);
                fault = std::current_exception();
            }
        });
    for (std::thread& t : threads) t.join();
    if (fault) std::rethrow_exception(fault);
}

#else

void run_parts(std::int64_t count, std::int64_t min_elements, void const* context,
               void (*f)(void const*, std::int64_t, std::int64_t)) {
    if (count == 0) return;
#if defined(ATON_HAS_THREADS)
    std::int64_t const max_parts = omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
    std::int64_t const parts = std::min(max_parts, (count + min_elements - 1) / min_elements);
    if (parts > 1) {
        std::exception_ptr fault;
#pragma omp parallel for schedule(static) num_threads(static_cast<int>(parts))
        for (std::int64_t i = 0; i < parts; ++i) {
            std::int64_t const more = count % parts;
            std::int64_t const start = count / parts * i + std::min(i, more);
            try {
                f(context, start, start + count / parts + (i < more ? 1 : 0));
            } catch (...) {
#pragma omp critical
                fault = std::current_exception();
            }
        }
        if (fault) std::rethrow_exception(fault);
        return;
    }
#endif
    f(context, 0, count);
}

#endif

} // namespace ATON_NAMESPACE::runtime::kernels
