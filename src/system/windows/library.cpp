// SPDX-License-Identifier: MIT
#include "system/library.hpp"

#include <cstddef>

#include <windows.h>

#include "text.hpp"

namespace ATON_NAMESPACE::system {

namespace {

std::string load_fault(DWORD reason) {
    switch (reason) {
    case ERROR_BAD_EXE_FORMAT: return "it is not a DLL for this processor";
    case ERROR_MOD_NOT_FOUND: return "a DLL that it needs is not found; link it with -static";
    case ERROR_PROC_NOT_FOUND: return "a DLL that it needs lacks a function";
    case ERROR_DLL_INIT_FAILED: return "its initialization fails";
    case ERROR_ACCESS_DENIED: return "access is denied";
    case ERROR_SHARING_VIOLATION: return "another program has it open";
    default: return "error " + std::to_string(reason) + " of Windows";
    }
}

bool has_access(DWORD protection, access wanted) {
    constexpr DWORD executable = PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
    constexpr DWORD readable = PAGE_READONLY | PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READ |
                               PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
    if ((protection & PAGE_GUARD) != 0) return false;
    return (protection & (wanted == access::execute ? executable : readable)) != 0;
}

} // namespace

void* load_library(std::string const& path, std::string& why) {
    std::wstring const name = wide_path(path);
    std::wstring full(::GetFullPathNameW(name.c_str(), 0, nullptr, nullptr), L'\0'); // no search in PATH
    full.resize(::GetFullPathNameW(name.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr));
    // No dialog box; what it needs may be beside it.
    UINT const mode = ::SetErrorMode(SEM_FAILCRITICALERRORS);
    HMODULE const library = ::LoadLibraryExW(full.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (library == nullptr) why = load_fault(::GetLastError());
    (void)::SetErrorMode(mode);
    return library;
}

void close_library(void* library) noexcept { (void)::FreeLibrary(static_cast<HMODULE>(library)); }

symbol find_symbol(void* library, char const* name) noexcept {
    symbol out;
    out.address = reinterpret_cast<void const*>( // NOLINT(*-reinterpret-cast): an address
        ::GetProcAddress(static_cast<HMODULE>(library), name));
    return out;
}

bool is_loaded(void const* first, std::uint64_t size, access wanted) noexcept {
    auto at = reinterpret_cast<std::uintptr_t>(first); // NOLINT(*-reinterpret-cast): an address
    if (size > UINTPTR_MAX - at) return false;
    void const* image = nullptr;
    for (std::uintptr_t const end = at + size; at < end || image == nullptr;) {
        MEMORY_BASIC_INFORMATION region{};
        if (::VirtualQuery(reinterpret_cast<void const*>(at), &region, sizeof region) == 0) return false; // NOLINT
        if (region.State != MEM_COMMIT || region.Type != MEM_IMAGE || !has_access(region.Protect, wanted)) return false;
        if (image != nullptr && image != region.AllocationBase) return false;
        image = region.AllocationBase;
        at = reinterpret_cast<std::uintptr_t>(region.BaseAddress) + region.RegionSize; // NOLINT(*-reinterpret-cast)
    }
    return true;
}

} // namespace ATON_NAMESPACE::system
