// SPDX-License-Identifier: MIT
#include "system/memory.hpp"

#include <cstdint>

#include <windows.h>

#include "text.hpp"

namespace ATON_NAMESPACE::system {

std::size_t memory_of_machine() noexcept {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    return ::GlobalMemoryStatusEx(&status) == 0 ? SIZE_MAX : static_cast<std::size_t>(status.ullTotalPhys);
}

void prefer_large_pages(void* /*start*/, std::size_t /*size*/) noexcept {} // needs a right that users do not have

void* allocate_shared(std::size_t size) noexcept {
    void* const start = ::VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (start == nullptr) set_errno();
    return start;
}

void release_shared(void* start, std::size_t /*size*/) noexcept { (void)::VirtualFree(start, 0, MEM_RELEASE); }

} // namespace ATON_NAMESPACE::system
