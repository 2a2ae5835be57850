// SPDX-License-Identifier: MIT
// Devices, and allocation of tensor memory.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::runtime {

/// The kinds of device that kernels exist for.
enum class device_kind : std::uint8_t { cpu, cuda };

/// A device: its kind, and which one of that kind.
struct device {
    device_kind kind = device_kind::cpu;
    int index = 0;

    friend bool operator==(device const&, device const&) = default;
};

/// The name of a device: "cpu", "cuda:0".
[[nodiscard]] std::string name(device d);

/// Allocates memory of one device. Thread-safe; must outlive every buffer that it allocated.
class allocator {
public:
    allocator() = default;
    allocator(allocator const&) = delete;
    allocator& operator=(allocator const&) = delete;
    virtual ~allocator() = default;

    /// The device whose memory it gives.
    [[nodiscard]] virtual device where() const = 0;
    /// At least `bytes`, aligned to 64. Throws aton::error if memory does not suffice.
    [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
    /// Takes back memory that `allocate(bytes)` gave.
    virtual void release(void* memory, std::size_t bytes) noexcept = 0;
};

/// The process-wide CPU allocator.
[[nodiscard]] allocator& cpu_allocator();

/// Sets the maximum number of bytes of all CPU tensors together, and of the elements of any one tensor or view; 0, the
/// initial value: the memory of the machine. Exceeding it throws aton::error.
void limit_cpu_memory(std::size_t bytes);

/// Throws aton::error if CPU tensors may not take another `bytes`; for memory that is not allocated here, such as that
/// of strings.
void expect_cpu_memory(std::size_t bytes);

/// The memory of strings: the objects and their characters.
[[nodiscard]] std::size_t memory_of(std::span<std::string const> text);

/// Memory that is shared by the tensors which view it. Strings are objects and are held in `strings` instead.
class buffer {
public:
    /// Memory of a device, or strings on the CPU. Throws aton::error where there is not as much.
    buffer(allocator& from, std::size_t bytes) : from_(&from), bytes_(bytes), memory_(from.allocate(bytes)) {}
    explicit buffer(std::vector<std::string> text);
    buffer(buffer const&) = delete;
    buffer& operator=(buffer const&) = delete;
    ~buffer();

    std::vector<std::string> strings;
    /// Counts the memory of `strings` towards the limit; call it again after they change. Throws aton::error if it is
    /// exceeded.
    void count_strings();

    /// The first byte, in the memory of the device; nullptr of strings.
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }
    /// The number of bytes.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    /// The device that the memory belongs to.
    [[nodiscard]] device where() const { return from_ == nullptr ? device{} : from_->where(); }

private:
    allocator* from_ = nullptr;
    std::size_t bytes_ = 0;
    void* memory_ = nullptr;
};

} // namespace ATON_NAMESPACE::runtime
