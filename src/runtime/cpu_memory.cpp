// SPDX-License-Identifier: MIT
// Memory of CPU tensors: its allocation, and the limit on all of it together.
#include <aton/runtime/memory.hpp>

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include <aton/core/error.hpp>

#include "check_allocation.hpp"
#include "system/memory.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

/// Needed because systems overcommit memory and kill the process that touches it.
std::atomic<std::size_t>& max_memory() {
    static std::atomic<std::size_t> limit = system::memory_of_machine();
    return limit;
}

[[noreturn]] void too_large(std::size_t bytes) {
    throw error("a tensor of " + std::to_string(bytes) + " bytes does not fit into memory");
}

class heap final : public allocator {
public:
    [[nodiscard]] device where() const override { return {}; }
    [[nodiscard]] void* allocate(std::size_t bytes) override {
        bool const fits = take(bytes + overhead);
        void* const memory = fits ? ::operator new(bytes == 0 ? 1 : bytes, alignment_of(bytes), std::nothrow) : nullptr;
        if (memory == nullptr) {
            if (fits) give_back(bytes + overhead);
            too_large(bytes);
        }
        if (bytes >= huge_page) system::prefer_large_pages(memory, bytes / huge_page * huge_page);
        return memory;
    }
    void release(void* memory, std::size_t bytes) noexcept override {
        give_back(bytes + overhead);
        ::operator delete(memory, alignment_of(bytes));
    }

    /// Whether `bytes` are available; if so, they count as taken.
    [[nodiscard]] bool take(std::size_t bytes) {
        std::size_t const limit = max_memory();
        std::size_t const before = in_use_.fetch_add(bytes);
        bool const fits = before <= limit && bytes <= limit - before;
        if (!fits) in_use_ -= bytes;
        return fits;
    }
    void give_back(std::size_t bytes) { in_use_ -= bytes; }

private:
    static constexpr std::size_t overhead = 256; ///< per tensor, for its description
    static constexpr std::size_t huge_page = std::size_t{1} << 21U;
    static std::align_val_t alignment_of(std::size_t bytes) {
        return std::align_val_t(bytes < huge_page ? 64 : huge_page);
    }

    std::atomic<std::size_t> in_use_ = 0;
};

heap& cpu_heap() {
    static heap only;
    return only;
}

} // namespace

allocator& cpu_allocator() { return cpu_heap(); }

void limit_cpu_memory(std::size_t bytes) { max_memory() = bytes == 0 ? system::memory_of_machine() : bytes; }

void expect_cpu_memory(std::size_t bytes) {
    if (!cpu_heap().take(bytes)) too_large(bytes);
    cpu_heap().give_back(bytes);
}

void check_fits_in_memory(std::size_t bytes) {
    if (bytes > max_memory()) too_large(bytes);
}

std::size_t memory_of(std::span<std::string const> text) {
    std::size_t bytes = text.size_bytes();
    for (std::string const& s : text) bytes += s.size();
    return bytes;
}

buffer::buffer(std::vector<std::string> text) : strings(std::move(text)) { count_strings(); }

buffer::~buffer() {
    if (from_ != nullptr) from_->release(memory_, bytes_);
    else cpu_heap().give_back(bytes_);
}

void buffer::count_strings() {
    std::size_t const bytes = memory_of(strings);
    if (bytes > bytes_ && !cpu_heap().take(bytes - bytes_)) too_large(bytes);
    if (bytes < bytes_) cpu_heap().give_back(bytes_ - bytes);
    bytes_ = bytes;
}

} // namespace ATON_NAMESPACE::runtime
