// SPDX-License-Identifier: MIT
#include "system/memory.hpp"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace ATON_NAMESPACE::system {

std::size_t memory_of_machine() noexcept {
    long const pages = ::sysconf(_SC_PHYS_PAGES);
    long const bytes = ::sysconf(_SC_PAGESIZE);
    return pages <= 0 || bytes <= 0 ? SIZE_MAX : static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
}

void prefer_large_pages([[maybe_unused]] void* start, [[maybe_unused]] std::size_t size) noexcept {
#if defined(MADV_HUGEPAGE)
    (void)::madvise(start, size, MADV_HUGEPAGE);
#endif
}

void* allocate_shared(std::size_t size) noexcept {
    void* const start =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? nullptr : start;
}

void release_shared(void* start, std::size_t size) noexcept { (void)::munmap(start, size); }

} // namespace ATON_NAMESPACE::system
