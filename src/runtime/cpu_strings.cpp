// SPDX-License-Identifier: MIT
// Kernels of string tensors, which copy strings one by one.
#include "cpu_strings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::strings {

namespace {

/// Pointers to the strings of a view, in row-major order.
std::vector<std::string*> reached(tensor const& x) {
    std::vector<std::int64_t> offsets{0};
    for (std::size_t i = 0; i != x.rank(); ++i) {
        std::vector<std::int64_t> next;
        next.reserve(offsets.size() * static_cast<std::size_t>(x.size(i)));
        for (std::int64_t at : offsets)
            for (std::int64_t k = 0; k != x.size(i); ++k) next.push_back(at + k * x.strides()[i]);
        offsets = std::move(next);
    }
    std::vector<std::string*> out;
    if (offsets.empty()) return out;
    auto const [lowest, highest] = std::minmax_element(offsets.begin(), offsets.end());
    std::span<std::string> const all = x.viewed({*highest - *lowest + 1}, {1}, *lowest).strings();
    out.reserve(offsets.size());
    for (std::int64_t at : offsets) out.push_back(&all[static_cast<std::size_t>(at - *lowest)]);
    return out;
}

/// Copies of the strings. Throws aton::error before copying if memory does not suffice.
std::vector<std::string> copies(std::vector<std::string*> const& of) {
    std::size_t bytes = 0;
    for (std::string const* s : of) bytes += sizeof(std::string) + s->size();
    expect_cpu_memory(bytes);
    std::vector<std::string> out;
    out.reserve(of.size());
    for (std::string const* s : of) out.push_back(*s);
    return out;
}

/// Assigns `source` to `target` element by element; `source` may point into `target`.
void assign(tensor const& into, std::vector<std::string*> const& target, std::vector<std::string*> const& source) {
    std::vector<std::string> values = copies(source);
    for (std::size_t i = 0; i != target.size(); ++i) *target[i] = std::move(values[i]);
    into.strings_changed();
}

} // namespace

tensor select(tensor const& condition, tensor const& yes, tensor const& no) {
    if (!no.is_strings() || condition.dtype() != dtype::bool_)
        throw error("select requires a bool tensor and two tensors of the same dtype");
    sizes const to = broadcast(broadcast(condition.sizes(), yes.sizes()), no.sizes());
    tensor const chosen = condition.expanded(to).contiguous();
    std::vector<std::string*> const a = reached(yes.expanded(to));
    std::vector<std::string*> const b = reached(no.expanded(to));
    std::vector<std::string*> out(a.size());
    for (std::size_t i = 0; i != out.size(); ++i) out[i] = chosen.data<bool>()[i] ? a[i] : b[i];
    return tensor::of_strings(copies(out), to);
}

void copy(tensor const& from, tensor const& to) {
    if (!from.is_strings()) throw error("a copy cannot change the dtype");
    assign(to, reached(to), reached(from.expanded(to.sizes())));
}

tensor take(tensor const& x, tensor const& positions) {
    std::vector<std::string*> const source = reached(x);
    std::vector<std::string*> out;
    out.reserve(static_cast<std::size_t>(positions.count()));
    for (std::int64_t at : positions.integers()) out.push_back(source[static_cast<std::size_t>(at)]);
    return tensor::of_strings(copies(out), positions.sizes());
}

void put(tensor const& into, tensor const& positions, tensor const& values) {
    std::vector<std::string*> target;
    for (std::int64_t at : positions.integers()) target.push_back(&into.strings()[static_cast<std::size_t>(at)]);
    assign(into, target, reached(values.expanded(positions.sizes())));
}

} // namespace ATON_NAMESPACE::runtime::strings
