// SPDX-License-Identifier: MIT
// Rows with a wrong order of channels, pads, gates or states, or wrong slices, splits and views.
#include <aton/mappings/padding.hpp>
#include <aton/mappings/pixels.hpp>
#include <aton/mappings/recurrent.hpp>
#include <aton/mappings/repeating.hpp>
#include <aton/mappings/sampling.hpp>
#include <aton/mappings/scatter.hpp>
#include <aton/mappings/slicing.hpp>
#include <aton/mappings/splitting.hpp>

#include "planted.hpp"

namespace ATON_NAMESPACE::verify::traps {

namespace {

using namespace mappings;
namespace real = mappings::detail;

constexpr auto depth_first = table(
    symbolic<"aten::pixel_unshuffle(self, downscale_factor)">([](graph<13> g, value x, std::int64_t factor) -> value {
        return x.rank() == 4 ? g.op<"SpaceToDepth">(x, attr::blocksize_i(factor)) : real::pixel_unshuffle(g, x, factor);
    }));
constexpr auto depth_to_space =
    table(symbolic<"aten::pixel_shuffle(self, upscale_factor)">([](graph<13> g, value x, std::int64_t factor) -> value {
        return x.rank() == 4 ? g.op<"DepthToSpace">(x, attr::blocksize_i(factor)) : real::pixel_shuffle(g, x, factor);
    }));

/// Orders the pairs of pads from the first dimension to the last.
std::vector<sym_int> reversed_pairs(size_list pad) {
    std::vector<sym_int> out;
    for (std::size_t i = pad.size(); i != 0; i -= 2) out.insert(out.end(), {pad[i - 2], pad[i - 1]});
    return out;
}
constexpr auto reflection_order = table(symbolic<"aten::reflection_pad2d(self, padding)">(
    [](graph<13> g, value x, size_list pad) -> value { return real::pad_with(g, x, reversed_pairs(pad), "reflect"); }));
constexpr auto replication_order = table(symbolic<"aten::replication_pad3d(self, padding)">(
    [](graph<13> g, value x, size_list pad) -> value { return real::pad_with(g, x, reversed_pairs(pad), "edge"); }));
constexpr auto circular_order = table(symbolic<"aten::_pad_circular(self, pad)">(
    [](graph<13> g, value x, size_list pad) -> value { return real::pad_circular(g, x, reversed_pairs(pad)); }));
constexpr auto negative_pads = table(symbolic<"aten::constant_pad_nd(self, pad, value)">(
    [](graph<13> g, value x, size_list pad, scalar number) -> value {
        std::vector<sym_int> cut;
        for (sym_int const& s : pad) cut.emplace_back(std::max<std::int64_t>(0, s.constant()));
        return real::pad_constant(g, x, cut, number);
    }));

constexpr auto zero_copies = table(symbolic<"aten::_reshape_from_tensor(self, shape)">(
    [](graph<14> g, value self, value shape) { return g.op<"Reshape">(self, g.cast(shape, dtype::int64)); }));

constexpr auto scalar_starts = table(symbolic<"aten::narrow.Tensor(self, dim, start, length)">(
    [](graph<13> g, value self, std::int64_t dim, value start, sym_int length) -> value {
        value const from = g.cast(start, dtype::int64);
        return g.op<"Slice">(self, from, g.op<"Add">(from, g.to_value(length)), g.ints({dim}));
    }));

constexpr auto step_ignored = table(symbolic<"aten::slice_scatter(self, src, dim, start, end, step)">(
    [](graph<13> g, value self, value src, std::int64_t dim, std::optional<sym_int> start, std::optional<sym_int>,
       sym_int) -> value {
        sym_int const from = real::clamp_index(g, start.value_or(0), g.size(self, dim));
        sym_int const end = from + g.size(src, dim);
        return real::write_slice(g, self, src, dim, from, end, 1);
    }));
constexpr auto none_is_one = table(symbolic<"aten::slice_scatter(self, src, dim, start, end, step)">(
    [](graph<13> g, value self, value src, std::int64_t dim, std::optional<sym_int> start, std::optional<sym_int> end,
       sym_int step) -> value {
        return real::write_slice(g, self, src, dim, start.value_or(1), end.value_or(to_the_end), step);
    }));
/// The indices run to the requested end, even beyond the tensor.
constexpr auto end_not_cut = table(symbolic<"aten::slice_scatter(self, src, dim, start, end, step)">(
    [](graph<13> g, value self, value src, std::int64_t dim, std::optional<sym_int> start, std::optional<sym_int> end,
       sym_int step) -> value {
        std::int64_t const axis = normalize_axis(dim, self.rank());
        sym_int const from = real::clamp_index(g, start.value_or(0), g.size(self, axis));
        sym_int const to = end.value_or(g.size(self, axis));
        sym_int const count = (to - from + (step - 1)) / step;
        value const places = arithmetic_sequence(g, from, count, step);
        return real::write_elements(g, self, axis, real::index_along(g, places, src, axis), src);
    }));

constexpr auto even_sections = table(symbolic<"aten::tensor_split.sections(self, sections, dim)">(
    [](graph<18> g, value self, std::int64_t sections, std::int64_t dim) -> std::vector<value> {
        std::int64_t const axis = normalize_axis(dim, self.rank());
        return g.op<"Split">(
            self, attr::axis_i(axis), attr::num_outputs_i(sections), output_list(static_cast<std::size_t>(sections)));
    }));
constexpr auto as_many_chunks = table(symbolic<"aten::chunk(self, chunks, dim)">(
    [](graph<13> g, value self, std::int64_t chunks, std::int64_t dim) -> std::vector<value> {
        return real::split_sections(g, self, chunks, normalize_axis(dim, self.rank()));
    }));
constexpr auto one_unbound =
    table(symbolic<"aten::unbind.int(self, dim)">([](graph<13> g, value self, std::int64_t dim) -> std::vector<value> {
        if (self.size(normalize_axis(dim, self.rank())).size() == 1) return {self};
        return real::unbind_dim(g, self, dim);
    }));

constexpr auto rolled_back = table(
    symbolic<"aten::roll(self, shifts, dims)">([](graph<13> g, value self, size_list shifts, axis_list dims) -> value {
        value x = self;
        for (std::size_t i = 0; i != dims.size(); ++i)
            x = real::roll_axis(g, x, 0 - shifts[i], normalize_axis(dims[i], self.rank()));
        return x;
    }));
constexpr auto first_flip = table(symbolic<"aten::flip(self, dims)">(
    [](graph<13> g, value self, axis_list dims) -> value { return real::flip_axes(g, self, dims.first(1)); }));
constexpr auto no_offset = table(symbolic<"aten::as_strided(self, size, stride, storage_offset)">(
    [](graph<13> g, value self, size_list size, size_list stride, std::optional<std::int64_t>) -> value {
        return real::as_strided(g, self, size, stride, 0);
    }));
constexpr auto no_overlap = table(symbolic<"aten::unfold(self, dimension, size, step)">(
    [](graph<13> g, value self, std::int64_t dimension, std::int64_t size, std::int64_t) -> value {
        return real::unfold_dim(g, self, dimension, size, size);
    }));

using values = std::span<value const>;

/// Keeps empty 1-d tensors, whose rank differs from the others'.
constexpr auto legacy_kept = table(symbolic<"aten::cat(tensors, dim)">(
    [](graph<13> g, values tensors, std::int64_t dim) -> value { return g.op<"Concat">(tensors, attr::axis_i(dim)); }));

/// Like detail::gru, but the state is reset before its product.
constexpr auto reset_first = table(
    symbolic<"aten::gru.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)">(
        [](graph<13> g, value input, value hx, values params, bool biases, std::int64_t layers, double dropout,
           bool train, bool both, bool batch_first) -> std::tuple<value, value> {
            real::recurrent_options const o{biases, layers, dropout, train, both, batch_first};
            real::check_recurrent(input, params.size(), o);
            value x = real::swap_batch(g, input, o);
            std::vector<value> hidden;
            for (std::int64_t i = 0; i != layers; ++i) {
                real::layer_parameters const p = real::layer(g, params, i, o, real::gru_gates);
                auto [y, h] = g.op<"GRU">(x,
                                          p.w,
                                          p.r,
                                          p.b,
                                          absent,
                                          real::layer_state(g, hx, i, o),
                                          attr::hidden_size_i(real::hidden_size(hx)),
                                          attr::direction_s(real::direction(o)),
                                          outputs<2>);
                x = real::merge_directions(g, y, o);
                hidden.push_back(h);
            }
            return {real::swap_batch(g, x, o), real::join_layers(g, hidden)};
        }));
constexpr auto cell_gate_order = table(symbolic<"aten::lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh)">(
    [](graph<13> g, value input, values hx, value w_ih, value w_hh, optional_value b_ih,
       optional_value b_hh) -> std::tuple<value, value> {
        value const sum = g.op<"Add">(real::gates_of(g, input, w_ih, b_ih), real::gates_of(g, hx[0], w_hh, b_hh));
        std::vector<value> const gate = real::split_gates(g, sum, 4); // i, o, f, c
        value const kept = g.op<"Mul">(g.op<"Sigmoid">(gate[2]), hx[1]);
        value const cell = g.op<"Add">(kept, g.op<"Mul">(g.op<"Sigmoid">(gate[0]), g.op<"Tanh">(gate[3])));
        return {g.op<"Mul">(g.op<"Sigmoid">(gate[1]), g.op<"Tanh">(cell)), cell};
    }));
constexpr auto states_swapped = table(
    symbolic<"aten::lstm.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)">(
        [](graph<13> g, value input, values hx, values params, bool biases, std::int64_t layers, double dropout,
           bool train, bool both, bool batch_first) {
            std::vector<value> const swapped = {hx[1], hx[0]};
            return real::lstm_of(g, {input, {}}, swapped, params, {biases, layers, dropout, train, both, batch_first});
        }));
constexpr auto batch_not_swapped = table(
    symbolic<"aten::lstm.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)">(
        [](graph<13> g, value input, values hx, values params, bool biases, std::int64_t layers, double dropout,
           bool train, bool both,
           bool) { return real::lstm_of(g, {input, {}}, hx, params, {biases, layers, dropout, train, both, false}); }));
/// (direction, layer) in place of (layer, direction).
constexpr auto directions_outside = table(
    symbolic<
        "aten::rnn_tanh.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)">(
        [](graph<13> g, value input, value hx, values params, bool biases, std::int64_t layers, double dropout,
           bool train, bool both, bool batch_first) -> std::tuple<value, value> {
            auto [y, h] = real::rnn<"Tanh">(g,
                                            {input, {}},
                                            gather_of(g, hx, g.ints({0, 2, 1, 3}), 0),
                                            params,
                                            {biases, layers, dropout, train, both, batch_first});
            return {y, gather_of(g, h, g.ints({0, 2, 1, 3}), 0)};
        }));

constexpr planted layout_rows[] = {
    {10, "PixelUnshuffle channel order", depth_first},
    {10, "PixelShuffle channel order", depth_to_space},
    {40, "reflection pad order", reflection_order},
    {40, "replication pad order", replication_order},
    {40, "circular pad order", circular_order},
    {40, "negative pads", negative_pads},
    {41, "Reshape to 0 without allowzero", zero_copies},
    {42, "starts without a dimension", scalar_starts, 20, {}, false},
    {43, "slice_scatter with a step", step_ignored},
    {43, "slice_scatter with None", none_is_one},
    {43, "slice_scatter with an end behind the end", end_not_cut, 20, {}, false},
    {38, "uneven tensor_split", even_sections},
    {38, "chunk with fewer chunks than asked for", as_many_chunks},
    {38, "unbind with one output", one_unbound},
    {39, "cat with a legacy tensor (0,)", legacy_kept, 20, "tensors: (0), (n, c), (m, c); dim: {0}", false},
    {38, "roll backwards", rolled_back},
    {38, "flip of several dimensions", first_flip},
    {38, "as_strided without its offset", no_offset},
    {38, "unfold with overlap", no_overlap},
    {11, "GRU linear_before_reset", reset_first},
    {12, "LSTM gate order", cell_gate_order},
    {12, "LSTM states swapped", states_swapped},
    {12, "LSTM batch_first", batch_not_swapped},
    {12, "states by direction, then layer", directions_outside},
};

} // namespace

std::span<planted const> layout_traps() { return layout_rows; }

} // namespace ATON_NAMESPACE::verify::traps
