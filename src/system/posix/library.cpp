// SPDX-License-Identifier: MIT
#include "system/library.hpp"

#include <cstddef>

#include <dlfcn.h>
#include <link.h>

namespace ATON_NAMESPACE::system {

namespace {

/// A range of memory that must be in a loaded library.
struct memory {
    std::uintptr_t first = 0;
    std::uint64_t size = 0;
    ElfW(Word) rights = PF_R;
    bool found = false;
};

int find_segment(dl_phdr_info* object, std::size_t, void* data) {
    memory& wanted = *static_cast<memory*>(data);
    for (int i = 0; i != object->dlpi_phnum; ++i) {
        ElfW(Phdr) const& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & wanted.rights) != wanted.rights) continue;
        std::uintptr_t const start = object->dlpi_addr + segment.p_vaddr;
        if (wanted.first < start || wanted.size > segment.p_memsz) continue;
        wanted.found = wanted.found || wanted.first - start <= segment.p_memsz - wanted.size;
    }
    return wanted.found ? 1 : 0;
}

} // namespace

void* load_library(std::string const& path, std::string& why) {
    std::string const file = path.find('/') == std::string::npos ? "./" + path : path; // no search in the library path
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    char const* const said = ::dlerror();
    why = said != nullptr ? said : "unknown error";
    if (why.starts_with(file + ": ")) why.erase(0, file.size() + 2);
    return nullptr;
}

void close_library(void* library) noexcept { ::dlclose(library); }

symbol find_symbol(void* library, char const* name) noexcept {
    symbol out;
    out.address = ::dlsym(library, name);
    if (out.address == nullptr) return out;
    Dl_info where{};
    void* entry = nullptr;
    bool const known = ::dladdr1(out.address, &where, &entry, RTLD_DL_SYMENT) != 0 && entry != nullptr;
    out.size = known ? static_cast<ElfW(Sym) const*>(entry)->st_size : 0;
    return out;
}

bool is_loaded(void const* first, std::uint64_t size, access wanted) noexcept {
    ElfW(Word) const rights = wanted == access::execute ? PF_X : PF_R;
    memory range{reinterpret_cast<std::uintptr_t>(first), size, rights}; // NOLINT(*-reinterpret-cast): an address
    ::dl_iterate_phdr(&find_segment, &range);
    return range.found;
}

} // namespace ATON_NAMESPACE::system
