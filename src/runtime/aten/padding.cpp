// SPDX-License-Identifier: MIT
// ATen operators: padding, given as pairs of numbers, the last dimension first; negative ones crop.
#include "axes.hpp"
#include "borders.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {} // namespace

tensor reflected(std::int64_t size, std::int64_t before, std::int64_t after, device where) {
    if (before >= size || after >= size) return {};
    tensor const at = abs(range(size + before + after, -before, 1, where));
    return whole_number(size - 1) - abs(whole_number(size - 1) - at);
}

tensor replicated(std::int64_t size, std::int64_t before, std::int64_t after, device where) {
    return maximum(minimum(range(size + before + after, -before, 1, where), whole_number(size - 1)), whole_number(0));
}

namespace {

[[noreturn]] void refuse(ints const& by, tensor const& x) {
    throw error("padding " + to_string(by) + " does not fit shape " + to_string(x.sizes()));
}

/// Refuses numbers whose sums could overflow.
void check_numbers(ints const& by, tensor const& x) {
    constexpr std::int64_t limit = std::int64_t{1} << 40;
    for (std::int64_t const n : by)
        if (n < -limit || n > limit) refuse(by, x);
    if (by.size() % 2 != 0) refuse(by, x);
}

tensor filled(tensor const& x, ints const& by, scalar const& value) {
    check_numbers(by, x);
    if (by.size() > 2 * x.rank()) refuse(by, x);
    sizes before(x.rank(), 0);
    sizes after(x.rank(), 0);
    for (std::size_t i = 0; i != by.size() / 2; ++i) {
        before[x.rank() - 1 - i] = by[2 * i];
        after[x.rank() - 1 - i] = by[2 * i + 1];
    }
    return pad(x, before, after, value);
}

tensor wrapped(std::int64_t size, std::int64_t before, std::int64_t after, device where) {
    if (before > size || after > size) return {};
    std::int64_t const first = std::max<std::int64_t>(-before, 0);
    std::int64_t const kept = size - first - std::max<std::int64_t>(-after, 0);
    tensor const at = range(size + before + after, -std::max<std::int64_t>(before, 0), 1, where);
    return binary(binary_op::remainder, at, whole_number(kept)) + whole_number(first);
}

tensor bordered(tensor x, ints const& by, border indices) {
    check_numbers(by, x);
    std::size_t const spatial = by.size() / 2;
    if (x.rank() != spatial + 1 && x.rank() != spatial + 2) refuse(by, x);
    for (std::size_t i = 0; i != spatial; ++i) {
        std::size_t const axis = x.rank() - 1 - i;
        std::int64_t const size = x.size(axis);
        if (size == 0 || size + by[2 * i] + by[2 * i + 1] < (indices == wrapped ? 0 : 1)) refuse(by, x);
        tensor const at = indices(size, by[2 * i], by[2 * i + 1], x.where());
        if (!at) refuse(by, x);
        x = index_select(x, static_cast<std::int64_t>(axis), at);
    }
    return x;
}

results constant_pad(call const& c) { return filled(c.t("self"), c.ints("pad"), c.number("value")); }

template <border Indices>
results border_pad(call const& c) {
    return bordered(c.t("self"), c.ints(c.has_argument("pad") ? "pad" : "padding"), Indices);
}

tensor padded(call const& c, std::string_view mode) {
    tensor const x = c.t("self");
    ints const by = c.ints("pad");
    if (mode == "constant") return filled(x, by, c.given("value") ? c.number("value") : scalar(0.0));
    if (c.given("value") && c.f("value") != 0) throw error("mode '" + std::string(mode) + "' does not take a value");
    if (mode == "reflect") return bordered(x, by, reflected);
    if (mode == "replicate") return bordered(x, by, replicated);
    if (mode == "circular") return bordered(x, by, wrapped);
    throw error("unknown padding mode '" + std::string(mode) + "'");
}

results pad_by_mode(call const& c) { return padded(c, c.text("mode")); }

results pad_by_number(call const& c) {
    constexpr std::string_view modes[] = {"reflect", "replicate", "circular", "constant"}; // at::padding_mode
    std::int64_t const mode = c.i("mode");
    if (mode < 0 || mode > 3) throw error("unknown padding mode " + std::to_string(mode));
    return padded(c, modes[mode]);
}

} // namespace

rows padding() {
    static constexpr row all[] = {
        {"constant_pad_nd", constant_pad},
        {"pad", pad_by_mode},
        {"_pad_enum", pad_by_number},
        {"_pad_circular", border_pad<wrapped>},
        {"reflection_pad1d", border_pad<reflected>},
        {"reflection_pad2d", border_pad<reflected>},
        {"reflection_pad3d", border_pad<reflected>},
        {"replication_pad1d", border_pad<replicated>},
        {"replication_pad2d", border_pad<replicated>},
        {"replication_pad3d", border_pad<replicated>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
