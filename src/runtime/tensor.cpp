// SPDX-License-Identifier: MIT
// Sizes, strides and views of tensors; CPU memory; conversion from and to constants.
#include <aton/runtime/tensor.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

/// Needed because systems overcommit memory and kill the process that touches it.
std::size_t memory_of_machine() {
    long const pages = ::sysconf(_SC_PHYS_PAGES);
    long const bytes = ::sysconf(_SC_PAGESIZE);
    return pages <= 0 || bytes <= 0 ? SIZE_MAX : static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
}

std::atomic<std::size_t>& max_memory() {
    static std::atomic<std::size_t> limit = memory_of_machine();
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
#if defined(MADV_HUGEPAGE)
        // Large pages make the first write several times as fast. The system may refuse.
        if (bytes >= huge_page) (void)::madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
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

std::size_t bytes_of(dtype type, std::int64_t count) {
    return static_cast<std::size_t>(count) * (type == dtype::string ? sizeof(std::string) : element_bytes(type));
}

/// Calls `f` with the offset of each element, in row-major order.
template <class Function>
void for_each_offset(sizes const& of, std::vector<std::int64_t> const& strides, Function const& f) {
    std::int64_t const count = count_of(of);
    sizes at(of.size());
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i != count; ++i) {
        f(offset);
        for (std::size_t k = of.size(); k-- != 0;) {
            offset += strides[k];
            if (++at[k] != of[k]) break;
            offset -= strides[k] * of[k];
            at[k] = 0;
        }
    }
}

heap& cpu_heap() {
    static heap only;
    return only;
}

} // namespace

allocator& cpu_allocator() { return cpu_heap(); }

void limit_cpu_memory(std::size_t bytes) { max_memory() = bytes == 0 ? memory_of_machine() : bytes; }

void expect_cpu_memory(std::size_t bytes) {
    if (!cpu_heap().take(bytes)) too_large(bytes);
    cpu_heap().give_back(bytes);
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

std::int64_t count_of(std::span<std::int64_t const> sizes) {
    std::int64_t count = 1;
    bool empty = false;
    for (std::int64_t s : sizes) {
        if (s < 0) throw error("a tensor cannot have shape " + to_string(sizes));
        if (s == 0) {
            empty = true;
            continue;
        }
        if (count > max_elements / s) throw error("a tensor of shape " + to_string(sizes) + " is too large");
        count *= s;
    }
    return empty ? 0 : count;
}

std::string to_string(std::span<std::int64_t const> sizes) {
    std::string out = "[";
    for (std::int64_t s : sizes) out += (out.size() == 1 ? "" : ", ") + std::to_string(s);
    return out + ']';
}

sizes broadcast(std::span<std::int64_t const> a, std::span<std::int64_t const> b) {
    if (a.size() < b.size()) std::swap(a, b);
    sizes out(a.begin(), a.end());
    std::size_t const shift = a.size() - b.size();
    for (std::size_t i = 0; i != b.size(); ++i) {
        std::int64_t& size = out[shift + i];
        if (size != b[i] && size != 1 && b[i] != 1)
            throw error("shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
        if (size == 1) size = b[i];
    }
    return out;
}

std::size_t axis_at(std::int64_t axis, std::size_t rank) {
    auto const n = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
    if (axis < -n || axis >= n)
        throw error("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
    return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

std::vector<std::int64_t> contiguous_strides(std::span<std::int64_t const> sizes) {
    std::vector<std::int64_t> strides(sizes.size(), 1);
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return strides; // no element is addressed
    std::int64_t next = 1;
    for (std::size_t i = sizes.size(); i-- != 0;) {
        strides[i] = next;
        next *= sizes[i];
    }
    return strides;
}

tensor tensor::empty(aton::dtype type, runtime::sizes of, allocator& from) {
    tensor t;
    t.type_ = type;
    t.count_ = count_of(of);
    t.strides_ = contiguous_strides(of);
    t.sizes_ = std::move(of);
    if (type == aton::dtype::string) {
        expect_cpu_memory(bytes_of(type, t.count_));
        t.memory_ = std::make_shared<buffer>(std::vector<std::string>(static_cast<std::size_t>(t.count_)));
        return t;
    }
    std::size_t const each = element_bytes(type);
    if (each == 0) throw error("a tensor must have a dtype");
    t.memory_ = std::make_shared<buffer>(from, static_cast<std::size_t>(t.count_) * each);
    return t;
}

tensor tensor::of_strings(std::vector<std::string> text, runtime::sizes of) {
    tensor t;
    t.type_ = aton::dtype::string;
    t.count_ = count_of(of);
    if (static_cast<std::size_t>(t.count_) != text.size())
        throw error("the number of strings does not match the shape");
    t.strides_ = contiguous_strides(of);
    t.sizes_ = std::move(of);
    t.memory_ = std::make_shared<buffer>(std::move(text));
    return t;
}

tensor tensor::of_integers(std::span<std::int64_t const> values) {
    tensor t = empty(aton::dtype::int64, {static_cast<std::int64_t>(values.size())});
    std::copy(values.begin(), values.end(), t.data<std::int64_t>());
    return t;
}

tensor tensor::of_scalar(scalar const& value, aton::dtype type) { return from_constant(scalar_tensor(value, type)); }

tensor tensor::from_constant(aton::tensor const& constant) {
    if (constant.type == aton::dtype::string) return of_strings(constant.strings, constant.sizes);
    tensor t = empty(constant.type, constant.sizes);
    auto const count = static_cast<std::size_t>(t.count_);
    std::size_t const width = bits(constant.type);
    if (constant.bytes.size() != (count * width + 7) / 8)
        throw error("a constant of shape " + to_string(constant.sizes) + " has " +
                    std::to_string(constant.bytes.size()) + " bytes");
    std::byte* const to = t.bytes();
    if (width >= 8) {
        if (count != 0) std::memcpy(to, constant.bytes.data(), constant.bytes.size());
        if (constant.type == aton::dtype::bool_) // other bytes are not valid bools in C++
            for (std::size_t i = 0; i != count; ++i) to[i] = std::byte(to[i] != std::byte{0} ? 1 : 0);
        return t;
    }
    bool const is_signed = is_signed_integral(constant.type);
    for (std::size_t i = 0; i != count; ++i) { // lowest bits first, also across bytes
        unsigned code = 0;
        for (std::size_t k = 0; k != width; ++k) {
            std::size_t const bit = i * width + k;
            unsigned const byte = static_cast<unsigned char>(constant.bytes[bit / 8]);
            code |= (byte >> (bit % 8) & 1U) << k;
        }
        bool const negative = is_signed && (code >> (width - 1) & 1U) != 0;
        to[i] = static_cast<std::byte>(negative ? code | ~0U << width : code);
    }
    return t;
}

aton::tensor tensor::to_constant() const {
    tensor const dense = contiguous();
    if (is_strings()) {
        auto const text = dense.strings();
        return {type_, sizes_, {}, {text.begin(), text.end()}};
    }
    std::size_t const width = bits(type_);
    auto const n = static_cast<std::size_t>(count_);
    aton::tensor out{type_, sizes_, std::string((n * width + 7) / 8, '\0')};
    if (width >= 8) {
        if (n != 0) std::memcpy(out.bytes.data(), dense.bytes(), out.bytes.size());
        return out;
    }
    for (std::size_t i = 0; i != n; ++i)
        for (std::size_t k = 0; k != width; ++k) {
            std::size_t const bit = i * width + k;
            auto const code = static_cast<unsigned>(dense.bytes()[i]);
            auto& byte = out.bytes[bit / 8];
            byte = static_cast<char>(static_cast<unsigned char>(byte) | (code >> k & 1U) << (bit % 8));
        }
    return out;
}

bool tensor::is_contiguous() const {
    std::int64_t expected = 1;
    if (count_ == 0) return true;
    for (std::size_t i = sizes_.size(); i-- != 0;) {
        if (sizes_[i] == 1) continue;
        if (strides_[i] != expected) return false;
        expected *= sizes_[i];
    }
    return true;
}

tensor tensor::permuted(std::span<std::size_t const> axes) const {
    tensor t = *this;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        t.sizes_[i] = sizes_[axes[i]];
        t.strides_[i] = strides_[axes[i]];
    }
    return t;
}

tensor tensor::expanded(runtime::sizes const& to) const {
    tensor t = *this;
    t.count_ = count_of(to);
    t.sizes_ = to;
    t.strides_.assign(to.size(), 0);
    bool fits = to.size() >= sizes_.size();
    for (std::size_t i = 0; fits && i != sizes_.size(); ++i) {
        std::size_t const k = to.size() - sizes_.size() + i;
        fits = sizes_[i] == to[k] || sizes_[i] == 1;
        if (sizes_[i] != 1) t.strides_[k] = strides_[i];
    }
    if (!fits) throw error("shape " + to_string(sizes_) + " does not expand to " + to_string(to));
    // Functions of an expanded tensor take time for all its elements.
    if (bytes_of(type_, t.count_) > max_memory()) too_large(bytes_of(type_, t.count_));
    return t;
}

void tensor::require_axis(std::size_t axis) const {
    if (axis >= rank())
        throw error("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank()));
}

tensor tensor::sliced(std::size_t axis, std::int64_t start, std::int64_t count, std::int64_t step) const {
    require_axis(axis);
    bool fits = count <= 0 || (start >= 0 && start < sizes_[axis]);
    if (fits && count > 1 && step != 0) {
        std::int64_t const steps =
            step > 0 ? (sizes_[axis] - 1 - start) / step : -(start / step); // steps within bounds
        fits = count - 1 <= steps;
    }
    if (!fits)
        throw error(std::to_string(count) + " elements from " + std::to_string(start) + " are out of range for axis " +
                    std::to_string(axis) + " of " + to_string(sizes_));
    tensor t = *this;
    t.sizes_[axis] = count;
    if (count > 1) t.strides_[axis] *= step;
    t.count_ = count_of(t.sizes_);
    if (count != 0) t.offset_ += start * strides_[axis];
    return t;
}

tensor tensor::unsqueezed(std::size_t axis) const {
    if (axis != rank()) require_axis(axis);
    tensor t = *this;
    t.sizes_.insert(t.sizes_.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    t.strides_.insert(t.strides_.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    return t;
}

tensor tensor::squeezed(std::size_t axis) const {
    require_axis(axis);
    if (sizes_[axis] != 1)
        throw error("axis " + std::to_string(axis) + " of " + to_string(sizes_) + " does not have size 1");
    tensor t = *this;
    t.sizes_.erase(t.sizes_.begin() + static_cast<std::ptrdiff_t>(axis));
    t.strides_.erase(t.strides_.begin() + static_cast<std::ptrdiff_t>(axis));
    return t;
}

tensor tensor::viewed(runtime::sizes to, std::vector<std::int64_t> strides, std::int64_t offset) const {
    tensor t = *this;
    t.count_ = count_of(to);
    t.sizes_ = std::move(to);
    t.strides_ = std::move(strides);
    t.offset_ += offset;
    return t;
}

tensor tensor::as_pairs() const {
    if (!is_complex(type_)) throw error(std::string(name(type_)) + " is not complex");
    tensor t = *this;
    t.type_ = type_ == aton::dtype::complex64 ? aton::dtype::float32 : aton::dtype::float64;
    t.offset_ *= 2;
    t.count_ *= 2;
    for (std::int64_t& s : t.strides_) s *= 2;
    t.sizes_.push_back(2);
    t.strides_.push_back(1);
    return t;
}

tensor tensor::from_pairs() const {
    bool const floats = type_ == aton::dtype::float32 || type_ == aton::dtype::float64;
    bool together = floats && !sizes_.empty() && sizes_.back() == 2 && strides_.back() == 1 && offset_ % 2 == 0;
    for (std::size_t i = 0; together && i + 1 != sizes_.size(); ++i) together = strides_[i] % 2 == 0 || sizes_[i] <= 1;
    together = together || (floats && count_ == 0 && !sizes_.empty() && sizes_.back() == 2);
    if (!together)
        throw error(std::string(name(type_)) + " of shape " + to_string(sizes_) + " cannot be viewed as pairs");
    tensor t = *this;
    t.type_ = type_ == aton::dtype::float32 ? aton::dtype::complex64 : aton::dtype::complex128;
    t.offset_ /= 2;
    t.count_ /= 2;
    t.sizes_.pop_back();
    t.strides_.pop_back();
    for (std::int64_t& s : t.strides_) s /= 2;
    return t;
}

tensor tensor::reinterpreted(aton::dtype as) const {
    std::string const refusal =
        std::string(name(type_)) + to_string(sizes_) + " cannot be viewed as " + std::string(name(as));
    if (is_strings() || element_bytes(as) == 0) throw error(refusal);
    auto const from = static_cast<std::int64_t>(element_bytes(type_));
    auto const to = static_cast<std::int64_t>(element_bytes(as));
    tensor t = *this;
    t.type_ = as;
    if (from == to) return t;
    auto const scaled = [&](std::int64_t n) {
        if (n * from % to != 0) throw error(refusal);
        return n * from / to;
    };
    if (sizes_.empty() || (strides_.back() != 1 && sizes_.back() != 1)) throw error(refusal);
    for (std::size_t i = 0; i + 1 != sizes_.size(); ++i)
        if (sizes_[i] > 1) t.strides_[i] = scaled(strides_[i]);
    t.sizes_.back() = scaled(sizes_.back());
    t.strides_.back() = 1;
    t.offset_ = scaled(offset_);
    t.count_ = count_of(t.sizes_);
    return t;
}

tensor tensor::contiguous() const {
    if (is_contiguous()) return *this;
    tensor t = empty(type_, sizes_);
    if (is_strings()) {
        auto const element = [&](std::int64_t at) -> std::string const& {
            return memory_->strings[static_cast<std::size_t>(offset_ + at)];
        };
        std::size_t bytes = 0;
        for_each_offset(sizes_, strides_, [&](std::int64_t at) { bytes += element(at).size(); });
        expect_cpu_memory(bytes);
        std::size_t i = 0;
        for_each_offset(sizes_, strides_, [&](std::int64_t at) { t.memory_->strings[i++] = element(at); });
        t.memory_->count_strings();
        return t;
    }
    auto const each = static_cast<std::int64_t>(element_bytes(type_));
    std::byte* to = t.bytes();
    std::byte const* const from = bytes();
    for_each_offset(sizes_, strides_, [&](std::int64_t at) {
        std::memcpy(to, from + at * each, static_cast<std::size_t>(each));
        to += each;
    });
    return t;
}

tensor tensor::reshaped(runtime::sizes to) const {
    if (count_of(to) != count_) throw error("shape " + to_string(sizes_) + " cannot be reshaped to " + to_string(to));
    tensor t = contiguous();
    t.strides_ = contiguous_strides(to);
    t.sizes_ = std::move(to);
    return t;
}

std::vector<std::int64_t> tensor::integers() const {
    tensor const dense = contiguous();
    std::vector<std::int64_t> out(static_cast<std::size_t>(count_));
    for (std::size_t i = 0; i != out.size(); ++i) {
        if (type_ == aton::dtype::int64) out[i] = dense.data<std::int64_t>()[i];
        else if (type_ == aton::dtype::int32) out[i] = dense.data<std::int32_t>()[i];
        else throw error("integers are expected, not " + std::string(name(type_)));
    }
    return out;
}

scalar tensor::item() const {
    if (count_ != 1) throw error("one element is expected, not shape " + to_string(sizes_));
    return to_constant().at(0);
}

} // namespace ATON_NAMESPACE::runtime
