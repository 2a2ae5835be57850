// SPDX-License-Identifier: MIT
#include "system/files.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include "text.hpp"

namespace ATON_NAMESPACE::system {

namespace {

/// Readers and those who rename or remove the file may have it at the same time; a writer would change what is mapped.
constexpr DWORD shared = FILE_SHARE_READ | FILE_SHARE_DELETE;

HANDLE handle_of(int file) { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); } // NOLINT(*-reinterpret-cast)

int open_file(std::string const& path, DWORD rights, DWORD sharing, DWORD how, DWORD flags, int mode) noexcept {
    try {
        HANDLE const handle = ::CreateFileW(wide_path(path).c_str(), rights, sharing, nullptr, how, flags, nullptr);
        if (handle == INVALID_HANDLE_VALUE) {
            set_errno();
            return -1;
        }
        int const file = ::_open_osfhandle(reinterpret_cast<::intptr_t>(handle), mode); // NOLINT(*-reinterpret-cast)
        if (file < 0) (void)::CloseHandle(handle);
        return file;
    } catch (std::bad_alloc const&) {
        errno = ENOMEM;
        return -1;
    }
}

bool examine_handle(HANDLE handle, file_facts& to) noexcept {
    to = {};
    if (::GetFileType(handle) != FILE_TYPE_DISK) return true;
    BY_HANDLE_FILE_INFORMATION found{};
    if (::GetFileInformationByHandle(handle, &found) == 0) {
        set_errno();
        return false;
    }
    bool const is_folder = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    to.kind = is_folder ? file_kind::folder : file_kind::regular;
    to.size = std::uint64_t{found.nFileSizeHigh} << 32U | found.nFileSizeLow;
    to.identity = {found.dwVolumeSerialNumber, std::uint64_t{found.nFileIndexHigh} << 32U | found.nFileIndexLow};
    return true;
}

template <class Call>
bool done(Call const& call) noexcept {
    try {
        if (call()) return true;
        set_errno();
    } catch (std::bad_alloc const&) {
        errno = ENOMEM;
    }
    return false;
}

} // namespace

std::string message_of(int reason) {
    if (reason == EBUSY) return "another program has it open";
    return std::generic_category().message(reason);
}

int open_to_read(std::string const& path) noexcept {
    // With these semantics, folders are opened as well.
    return open_file(
        path, GENERIC_READ, shared, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}

int open_to_write(std::string const& path) noexcept {
    return open_file(path, GENERIC_WRITE, shared | FILE_SHARE_WRITE, OPEN_EXISTING, 0, _O_BINARY | _O_NOINHERIT);
}

int create_new(std::string const& path) noexcept {
    return open_file(
        path, GENERIC_WRITE, shared, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, _O_WRONLY | _O_BINARY | _O_NOINHERIT);
}

bool close_file(int file) noexcept { return ::_close(file) == 0; }

bool examine(int file, file_facts& to) noexcept { return examine_handle(handle_of(file), to); }

bool examine(std::string const& path, file_facts& to) noexcept {
    bool good = false;
    return done([&] {
        constexpr DWORD all = shared | FILE_SHARE_WRITE; // without rights, also a file that another program has open
        std::wstring const name = wide_path(path);
        HANDLE const handle =
            ::CreateFileW(name.c_str(), 0, all, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
        if (handle == INVALID_HANDLE_VALUE) return false;
        good = examine_handle(handle, to);
        (void)::CloseHandle(handle);
        return good;
    });
}

void const* map_file(int file, std::size_t /*size*/) noexcept {
    HANDLE const mapping = ::CreateFileMappingW(handle_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr);
    void const* const start = mapping == nullptr ? nullptr : ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    if (start == nullptr) set_errno();
    if (mapping != nullptr) (void)::CloseHandle(mapping); // the view keeps it
    return start;
}

void unmap_file(void const* start, std::size_t /*size*/) noexcept { (void)::UnmapViewOfFile(start); }

bool read_range(int from, std::uint64_t position, std::byte* to, std::size_t size) noexcept {
    while (size != 0) {
        OVERLAPPED at{};
        at.Offset = static_cast<DWORD>(position);
        at.OffsetHigh = static_cast<DWORD>(position >> 32U);
        DWORD n = 0;
        auto const wanted = static_cast<DWORD>(std::min(size, std::size_t{1} << 30U));
        if (::ReadFile(handle_of(from), to, wanted, &n, &at) == 0) {
            set_errno();
            return false;
        }
        if (n == 0) {
            errno = 0;
            return false;
        }
        to += n;
        position += n;
        size -= n;
    }
    return true;
}

bool write_all(int file, std::byte const* bytes, std::size_t size) noexcept {
    constexpr std::size_t piece = std::size_t{1} << 20;
    while (size != 0) {
        DWORD n = 0;
        if (::WriteFile(handle_of(file), bytes, static_cast<DWORD>(std::min(size, piece)), &n, nullptr) == 0) {
            set_errno();
            return false;
        }
        if (n == 0) {
            errno = EIO;
            return false;
        }
        bytes += n;
        size -= n;
    }
    return true;
}

bool allocate(int file, std::uint64_t size) noexcept {
    FILE_ALLOCATION_INFO space{};
    space.AllocationSize.QuadPart = static_cast<LONGLONG>(size);
    if (::SetFileInformationByHandle(handle_of(file), FileAllocationInfo, &space, sizeof space) != 0) return true;
    set_errno();
    return errno != ENOSPC && errno != EFBIG; // otherwise, the file system does not support it
}

bool remove_file(std::string const& path) noexcept {
    return done([&] { return ::DeleteFileW(wide_path(path).c_str()) != 0; });
}

bool replace_file(std::string const& from, std::string const& to) noexcept {
    return done(
        [&] { return ::MoveFileExW(wide_path(from).c_str(), wide_path(to).c_str(), MOVEFILE_REPLACE_EXISTING) != 0; });
}

/// The other file keeps its attributes and rights, and is under a third name for a moment.
bool exchange_files(std::string const& one, std::string const& other) noexcept {
    return done([&] {
        std::wstring const first = wide_path(one);
        std::wstring const third = wide_path(one + '~');
        std::wstring const second = wide_path(other);
        return ::ReplaceFileW(second.c_str(), first.c_str(), third.c_str(), 0, nullptr, nullptr) != 0 &&
               ::MoveFileExW(third.c_str(), first.c_str(), 0) != 0;
    });
}

std::size_t last_separator(std::string_view path) noexcept { return path.find_last_of("/\\:"); }

} // namespace ATON_NAMESPACE::system
