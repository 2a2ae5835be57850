// SPDX-License-Identifier: MIT
// Creation of tensors, conversion from and to constants, and copies in row-major order.
#include <aton/runtime/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include <aton/core/error.hpp>

#include "check_allocation.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

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

} // namespace

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
    if (each == 0)
        throw error(type == aton::dtype::undefined ? "a tensor must have a dtype"
                                                   : "the runtime has no tensors of " + std::string(name(type)));
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

namespace {

void require_host(tensor const& x) {
    if (x.where() != device{}) throw error("a tensor on " + name(x.where()) + " must be copied to the CPU to be read");
}

} // namespace

aton::tensor tensor::to_constant() const {
    require_host(*this);
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

tensor tensor::contiguous() const {
    if (is_contiguous()) return *this;
    require_host(*this);
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
    require_host(*this);
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
