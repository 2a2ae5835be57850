// SPDX-License-Identifier: MIT
// What the evaluators have in common: limits, strides and broadcasting of constants, and the choice of the evaluator.
#include "evaluate.hpp"

#include <cstddef>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace ATON_NAMESPACE::passes {

std::optional<std::int64_t> small_count(std::span<std::int64_t const> sizes, dtype type, std::int64_t max_bytes) {
    std::int64_t n = 1;
    for (std::int64_t s : sizes)
        if (s < 0) return {};
    for (std::int64_t s : sizes) {
        if (s > max_bytes) return {};
        n *= s; // below 2^62
        if (n > max_bytes) return {};
    }
    return n * static_cast<std::int64_t>(bits(type)) > max_bytes * 8 ? std::nullopt : std::optional(n);
}

std::vector<std::int64_t> dense_strides(std::span<std::int64_t const> sizes) {
    std::vector<std::int64_t> strides(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    return strides;
}

tensor take(tensor const& from, std::vector<std::int64_t> sizes, std::span<std::int64_t const> strides,
            std::int64_t offset) {
    tensor out{from.type, std::move(sizes), {}};
    std::size_t const width = bits(from.type) / 8;
    auto const count = static_cast<std::size_t>(out.element_count());
    out.bytes.resize(count * width);
    if (count == 0) return out;
    std::size_t const rank = out.sizes.size();
    std::int64_t const inner = rank == 0 ? 1 : out.sizes.back();
    std::int64_t const step = rank == 0 ? 0 : strides[rank - 1];
    std::vector<std::int64_t> index(rank, 0);
    char* to = out.bytes.data();
    char const* const base = from.bytes.data();
    for (;;) {
        for (std::int64_t i = 0; i != inner; ++i, to += width)
            std::memcpy(to, base + static_cast<std::ptrdiff_t>(width) * (offset + i * step), width);
        std::size_t d = rank < 2 ? 0 : rank - 1;
        for (; d != 0; --d) {
            offset += strides[d - 1];
            if (++index[d - 1] != out.sizes[d - 1]) break;
            offset -= strides[d - 1] * out.sizes[d - 1];
            index[d - 1] = 0;
        }
        if (d == 0) return out;
    }
}

std::optional<std::vector<std::int64_t>> broadcast(std::span<std::int64_t const> a, std::span<std::int64_t const> b) {
    if (a.size() < b.size()) std::swap(a, b);
    std::vector<std::int64_t> out(a.begin(), a.end());
    std::size_t const skipped = a.size() - b.size();
    for (std::size_t i = 0; i != b.size(); ++i) {
        std::int64_t& d = out[skipped + i];
        if (d == 1) d = b[i];
        else if (b[i] != 1 && b[i] != d) return {};
    }
    return out;
}

tensor broadcast_to(tensor const& from, std::vector<std::int64_t> const& sizes) {
    if (from.sizes == sizes) return from;
    std::vector<std::int64_t> const own = dense_strides(from.sizes);
    std::vector<std::int64_t> strides(sizes.size(), 0);
    std::size_t const skipped = sizes.size() - own.size();
    for (std::size_t i = 0; i != own.size(); ++i)
        if (from.sizes[i] != 1) strides[skipped + i] = own[i];
    return take(from, sizes, strides, 0);
}

evaluator find_evaluator(std::string_view op) {
    static std::unordered_map<std::string_view, evaluator> const all = [] {
        std::unordered_map<std::string_view, evaluator> out{{"Resize", resize}};
        for (auto const family :
             {layout_evaluators, elementwise_evaluators, reduction_evaluators, placing_evaluators, product_evaluators})
            for (named_evaluator const& e : family()) out.emplace(e.op, e.function);
        return out;
    }();
    auto const found = all.find(op);
    return found == all.end() ? nullptr : found->second;
}

} // namespace ATON_NAMESPACE::passes
