// SPDX-License-Identifier: MIT
// Checks the rows of a table, several at a time.
#include <aton/verify/check.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#if defined(_OPENMP) && __has_include(<omp.h>)
#include <omp.h>
#define ATON_HAS_THREADS
#endif

#include "row_check.hpp"
#include "row_processes.hpp"
#include "system/child_process.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

/// The overloads of recorded calls that `options` selects and no row maps.
std::vector<std::string> overloads_without_row(dsl::table_view rows, check_options const& options) {
    std::set<std::string> out;
    for (recorded_call const& c : options.calls)
        if (c.call.overload.find(options.only) != std::string::npos) out.insert(c.call.overload);
    for (dsl::entry const& row : rows) out.erase(std::string(row.overload));
    return {out.begin(), out.end()};
}

} // namespace

report check(dsl::table_view rows, check_options const& options) {
    std::vector<dsl::entry const*> chosen;
    for (dsl::entry const& row : rows)
        if (options.selects(row)) chosen.push_back(&row);
    report out;
    out.without_row = overloads_without_row(rows, options);
    if (options.isolated && system::can_copy_process()) {
        out.rows = check_in_processes(chosen, options);
        return out;
    }
    out.rows.resize(chosen.size());
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::size_t done = 0;
    std::exception_ptr fault;
    auto const work = [&] {
#if defined(ATON_HAS_THREADS)
        omp_set_num_threads(1); // in this thread: tensors are small, and rows run in parallel
#endif
        try {
            for (std::size_t i = next++; i < chosen.size(); i = next++) {
                out.rows[i] = check_row(*chosen[i], options);
                if (!options.progress) continue;
                std::lock_guard const lock(mutex);
                options.progress(++done, chosen.size());
            }
        } catch (...) {
            std::lock_guard const lock(mutex);
            fault = std::current_exception();
            next = chosen.size();
        }
    };
    std::size_t const asked =
        options.threads > 0 ? static_cast<std::size_t>(options.threads) : std::thread::hardware_concurrency();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(std::max<std::size_t>(1, asked), chosen.size()); ++i)
        threads.emplace_back(work);
    for (std::thread& t : threads) t.join();
    if (fault) std::rethrow_exception(fault);
    return out;
}

} // namespace ATON_NAMESPACE::verify
