// SPDX-License-Identifier: MIT
// Rows with wrong indexing, gathering and scattering.
#include <aton/mappings/repeating.hpp>
#include <aton/mappings/scatter.hpp>
#include <aton/mappings/selection.hpp>

#include "planted.hpp"

namespace ATON_NAMESPACE::verify::traps {

namespace {

using namespace mappings;
namespace real = mappings::detail;
using indices = std::span<optional_value const>;

constexpr auto mask_not_broadcast = table(symbolic<"aten::masked_scatter(self, mask, source)">(
    [](graph<13> g, value self, value mask, value source) -> value {
        value const positions =
            g.op<"Transpose">(g.op<"NonZero">(real::in_one_dimension(g, mask)), attr::perm_i({1, 0}));
        value const count = g.op<"Slice">(g.op<"Shape">(positions), g.ints({0}), g.ints({1}));
        value const taken = g.op<"Slice">(real::in_one_dimension(g, source), g.ints({0}), count, g.ints({0}));
        value const y = g.op<"ScatterND">(real::in_one_dimension(g, self), positions, taken);
        return g.op<"Reshape">(y, g.op<"Shape">(self));
    }));

constexpr auto no_accumulate = table(symbolic<"aten::index_put(self, indices, values, accumulate)">(
    [](graph<13> g, value self, indices at, value source, bool) -> value {
        return real::put_with(g, self, at, source, false);
    }));
constexpr auto mask_as_numbers = table(symbolic<"aten::index_put(self, indices, values, accumulate)">(
    [](graph<13> g, value self, indices at, value source, bool accumulate) -> value {
        std::vector<optional_value> numbers;
        for (optional_value const& v : at) numbers.emplace_back(g.cast(*v, dtype::int64));
        return real::put_with(g, self, numbers, source, accumulate);
    }));
constexpr auto later_index_first =
    table(symbolic<"aten::index.Tensor(self, indices)">([](graph<13> g, value self, indices at) -> value {
        std::vector<optional_value> reversed(at.rbegin(), at.rend());
        return real::index_with(g, self, reversed);
    }));
constexpr auto mask_as_index = table(symbolic<"aten::index.Tensor(self, indices)">(
    [](graph<13> g, value self, indices at) -> value { return gather_of(g, self, g.cast(*at[0], dtype::int64), 0); }));

constexpr auto negative_is_zero =
    table(symbolic<"aten::index.Tensor(self, indices)">([](graph<13> g, value self, indices at) -> value {
        std::vector<optional_value> cut;
        for (optional_value const& v : at) cut.emplace_back(g.op<"Max">(*v, 0));
        return real::index_with(g, self, cut);
    }));
constexpr auto start_plus_length = table(symbolic<"aten::narrow(self, dim, start, length)">(
    [](graph<13> g, value self, std::int64_t dim, sym_int start, sym_int length) -> value {
        return slice(g, self, dim, start, start + length);
    }));

constexpr auto scalar_index = table(symbolic<"aten::gather(self, dim, index, sparse_grad)">(
    [](graph<13> g, value self, std::int64_t dim, value index, bool) -> value {
        return real::gather_elements(g, self, dim, at_least_1d(g, index));
    }));
constexpr auto scalar_select = table(symbolic<"aten::index_select(self, dim, index)">(
    [](graph<13> g, value self, std::int64_t dim, value index) -> value {
        return gather_of(g, self, index, normalize_axis(dim, self.rank()));
    }));

constexpr auto self_included = table(symbolic<"aten::scatter_reduce.two(self, dim, index, src, reduce, include_self)">(
    [](graph<18> g, value self, std::int64_t dim, value index, value src, std::string_view reduce, bool) -> value {
        return real::scatter_reduced(g, self, dim, index, src, reduce, true);
    }));
constexpr auto mean_is_sum = table(symbolic<"aten::scatter_reduce.two(self, dim, index, src, reduce, include_self)">(
    [](graph<18> g, value self, std::int64_t dim, value index, value src, std::string_view reduce,
       bool include_self) -> value {
        return real::scatter_reduced(g, self, dim, index, src, reduce == "mean" ? "sum" : reduce, include_self);
    }));
constexpr auto self_included_by_index =
    table(symbolic<"aten::index_reduce(self, dim, index, source, reduce, include_self)">(
        [](graph<18> g, value self, std::int64_t dim, value index, value source, std::string_view reduce,
           bool) -> value {
            auto const [at, from] = real::along(g, self, dim, index, source);
            return real::scatter_reduced(g, self, dim, at, from, reduce, true);
        }));

/// Takes the source's elements in order instead of those at the positions of the index.
constexpr auto source_in_order = table(symbolic<"aten::scatter.src(self, dim, index, src)">(
    [](graph<13> g, value self, std::int64_t dim, value index, value src) -> value {
        value const first = slice(g, flat(g, src), 0, 0, element_count(g, index));
        return real::write_elements(g, self, dim, index, reshape(g, first, g.sizes(index)));
    }));
constexpr auto value_as_integer = table(symbolic<"aten::scatter.value(self, dim, index, value)">(
    [](graph<13> g, value self, std::int64_t dim, value index, scalar number) -> value {
        return real::write_elements(g, self, dim, index, real::filled_as(g, self, index, number.to<std::int64_t>()));
    }));

constexpr auto tiled = table(symbolic<"aten::repeat_interleave.self_int(self, repeats, dim, output_size)">(
    [](graph<13> g, value self, sym_int repeats, std::optional<std::int64_t> dim, std::optional<sym_int>) -> value {
        value const x = dim ? self : flat(g, self);
        std::vector<sym_int> times(static_cast<std::size_t>(x.rank()), 1);
        times[static_cast<std::size_t>(normalize_axis(dim.value_or(0), x.rank()))] = repeats;
        return g.op<"Tile">(x, g.ints(times));
    }));
constexpr auto one_repeat = table(symbolic<"aten::repeat_interleave.self_Tensor(self, repeats, dim, output_size)">(
    [](graph<13> g, value self, value repeats, std::optional<std::int64_t> dim, std::optional<sym_int>) -> value {
        value const most = reduce<"ReduceMax">(g, repeats, std::vector<std::int64_t>{0}, true);
        return real::repeat_each_by_tensor(g, self, most, dim);
    }));

constexpr planted indexing_rows[] = {
    {13, "masked_scatter with a broadcast mask", mask_not_broadcast},
    {14, "index_put accumulate ignored", no_accumulate},
    {14, "index_put with a mask", mask_as_numbers, 20, "self: (n, c); indices: (n) bool * 1; values: ()"},
    {14, "index in the other order", later_index_first},
    {14, "index with a mask", mask_as_index, 20, "self: (n, c); indices: (n) bool * 1"},
    {15, "negative indices", negative_is_zero},
    {15, "a negative start", start_plus_length},
    {16, "gather with a 0-d index", scalar_index, 20, "self: (n); dim: {0}; index: () index n"},
    {16, "index_select with a 0-d index", scalar_select, 20, "self: (n, c); dim: {0}; index: () index n"},
    {17, "scatter_reduce include_self ignored", self_included},
    {17, "scatter_reduce mean as a sum", mean_is_sum},
    {17, "index_reduce include_self ignored", self_included_by_index},
    {18, "scatter reads a larger source in order", source_in_order},
    {18, "scatter of a value as an integer", value_as_integer},
    {18, "repeat_interleave as tile", tiled},
    {18, "repeat_interleave with a tensor of repeats", one_repeat},
};

} // namespace

std::span<planted const> indexing_traps() { return indexing_rows; }

} // namespace ATON_NAMESPACE::verify::traps
