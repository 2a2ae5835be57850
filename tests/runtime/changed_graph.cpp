// SPDX-License-Identifier: MIT
// Random changes of graphs and inputs.
#include "changed_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>

#include "../changed_bytes.hpp"

namespace aton::tests {

namespace {

using random = std::mt19937_64;
using runtime::element_bytes;
using runtime::tensor;

template <class List>
auto& one_of(List& all, random& rng) {
    return all[up_to<std::size_t>(rng, all.size() - 1)];
}

bool once_in(random& rng, int n) { return up_to(rng, n - 1) == 0; }

/// Changes, adds or removes an element, or removes all.
template <class T, class Make>
void change_list(std::vector<T>& all, random& rng, Make const& make) {
    switch (up_to(rng, 4)) {
    case 0: all.clear(); return;
    case 1: all.push_back(make()); return;
    case 2:
        if (!all.empty()) all.pop_back();
        return;
    case 3:
        for (T& each : all)
            if (once_in(rng, 2)) each = make();
        return;
    default:
        if (!all.empty()) one_of(all, rng) = make();
    }
}

void change_constant(aton::tensor& t, random& rng) {
    switch (up_to(rng, 4)) {
    case 0: t.type = strange_type(rng); return;
    case 1: change_list(t.sizes, rng, [&] { return strange_integer(rng); }); return;
    case 2:
        if (!t.bytes.empty()) t.bytes = mutated(t.bytes, rng);
        return;
    case 3: change_list(t.strings, rng, [&] { return strange_text(rng); }); return;
    default: // still a constant, with other elements
        for (char& byte : t.bytes)
            if (once_in(rng, 4)) byte = static_cast<char>(up_to(rng, 255));
    }
}

void change_type(value_type& t, random& rng) {
    if (once_in(rng, 2)) t.dtype = strange_type(rng);
    if (once_in(rng, 3)) t.kind = static_cast<value_kind>(up_to(rng, 3));
    if (once_in(rng, 3)) t.shape = shape(std::vector<std::int64_t>(up_to<std::size_t>(rng, 4), 2));
}

void change_graph(graph_data& g, node_pool const& others, random& rng);

void change_payload(node_attribute& a, node_pool const& others, random& rng) {
    using type = onnx::attr_type;
    switch (a.type) {
    case type::i: a.i = strange_integer(rng); return;
    case type::f: a.f = static_cast<float>(strange_real(rng)); return;
    case type::s: a.s = strange_text(rng); return;
    case type::ints: change_list(a.ints, rng, [&] { return strange_integer(rng); }); return;
    case type::floats: change_list(a.floats, rng, [&] { return static_cast<float>(strange_real(rng)); }); return;
    case type::strings: change_list(a.strings, rng, [&] { return strange_text(rng); }); return;
    default:
        if (!a.tensors.empty() && once_in(rng, 4)) a.tensors.pop_back();
        else if (!a.tensors.empty()) change_constant(one_of(a.tensors, rng), rng);
        if (!a.graphs.empty() && once_in(rng, 8)) a.graphs.clear();
        else if (!a.graphs.empty()) change_graph(one_of(a.graphs, rng), others, rng);
    }
}

void change_attribute(graph_node& n, node_pool const& others, random& rng) {
    if (n.attributes.empty() || once_in(rng, 5)) { // an attribute of another node
        graph_node const& other = one_of(others, rng);
        if (!other.attributes.empty()) n.attributes.push_back(one_of(other.attributes, rng));
        if (n.attributes.empty()) return;
    }
    node_attribute& a = one_of(n.attributes, rng);
    switch (up_to(rng, 11)) {
    case 0: n.attributes.erase(n.attributes.begin() + (&a - n.attributes.data())); return;
    case 1: a.type = static_cast<onnx::attr_type>(up_to(rng, 14)); return;
    case 2: a.reference = once_in(rng, 2) ? "nowhere" : a.name; return;
    case 3: a.name = strange_text(rng); return;
    default: change_payload(a, others, rng);
    }
}

value_id any_value(graph_data const& g, random& rng) {
    if (g.values.empty() || once_in(rng, 12)) return static_cast<value_id>(strange_integer(rng));
    return once_in(rng, 8) ? no_value : up_to<value_id>(rng, static_cast<value_id>(g.values.size() - 1));
}

void change_node(graph_data& g, graph_node& n, node_pool const& others, random& rng) {
    switch (up_to(rng, 7)) {
    case 0: { // another operator with the same inputs
        graph_node const& other = one_of(others, rng);
        n.op = other.op;
        n.domain = other.domain;
        if (once_in(rng, 2)) n.attributes = other.attributes;
        return;
    }
    case 1: change_list(n.inputs, rng, [&] { return any_value(g, rng); }); return;
    case 2: std::shuffle(n.inputs.begin(), n.inputs.end(), rng); return;
    case 3:
        if (once_in(rng, 2)) change_list(n.outputs, rng, [&] { return any_value(g, rng); });
        else n.outputs.push_back(g.add_value(value_type{}));
        return;
    default: change_attribute(n, others, rng);
    }
}

void change_graph(graph_data& g, node_pool const& others, random& rng) {
    int const what = up_to(rng, 19);
    if (what == 0) {
        g.opset = up_to(rng, 30);
    } else if (what == 1) {
        change_list(g.outputs, rng, [&] { return any_value(g, rng); });
    } else if (what == 2) {
        change_list(g.inputs, rng, [&] { return any_value(g, rng); });
    } else if (what == 3 && !g.nodes.empty()) {
        if (once_in(rng, 2)) g.nodes.erase(g.nodes.begin() + (&one_of(g.nodes, rng) - g.nodes.data()));
        else std::swap(one_of(g.nodes, rng), one_of(g.nodes, rng));
    } else if (what == 4 && !g.values.empty()) {
        one_of(g.values, rng).outer = any_value(g, rng);
    } else if (what == 5 && !g.values.empty()) {
        change_type(one_of(g.values, rng).type, rng);
    } else if (what <= 7 && !g.initializers.empty()) {
        change_constant(one_of(g.initializers, rng).data, rng);
    } else if (what == 8 && !g.functions.empty()) {
        graph_function& f = one_of(g.functions, rng);
        if (!f.body.empty()) change_graph(f.body.front(), others, rng);
        if (!f.defaults.empty()) change_payload(one_of(f.defaults, rng), others, rng);
    } else if (!g.nodes.empty()) {
        change_node(g, one_of(g.nodes, rng), others, rng);
    }
}

/// Declares the type of the given input in the graph, so that the input reaches the node.
void state_type(runnable& what, std::size_t input) {
    runtime::value const& v = what.inputs[input];
    if (input >= what.graph.inputs.size() || what.graph.inputs[input] >= what.graph.values.size()) return;
    value_type& t = what.graph.values[what.graph.inputs[input]].type;
    t.kind = v.is_sequence() ? value_kind::sequence : v ? value_kind::tensor : value_kind::optional_tensor;
    t.dtype = v.is_tensor() ? v.one().dtype() : dtype::undefined;
    t.shape = shape();
}

void change_input(runnable& what, random& rng) {
    if (what.inputs.empty()) return;
    std::size_t const i = up_to<std::size_t>(rng, what.inputs.size() - 1);
    runtime::value& v = what.inputs[i];
    if (once_in(rng, 12)) {
        v = {};
    } else if (once_in(rng, 12)) {
        v = one_of(what.inputs, rng);
    } else if (v.is_sequence()) {
        std::vector<tensor> all = v.many();
        tensor const like = all.empty() ? tensor::of_scalar(1, dtype::float32) : all.front();
        change_list(all, rng, [&] { return changed(like, rng); });
        v = std::move(all);
    } else if (v.is_tensor()) {
        tensor t = changed(v.one(), rng);
        if (once_in(rng, 12)) v = std::vector<tensor>{t, v.one()};
        else v = std::move(t);
    }
    if (!once_in(rng, 8)) state_type(what, i);
}

/// Replaces elements by numbers of any magnitude.
tensor with_strange_elements(tensor const& of, random& rng) {
    aton::tensor t = of.to_constant();
    for (std::string& s : t.strings)
        if (once_in(rng, 3)) s = strange_text(rng);
    std::size_t const width = element_bytes(t.type);
    bool const is_whole = width != 0 && !t.bytes.empty() && t.bytes.size() % width == 0;
    std::size_t const count = is_whole ? std::min<std::size_t>(t.bytes.size() / width, 64) : 0;
    for (std::size_t i = 0; i != count; ++i) {
        if (!once_in(rng, 3)) continue;
        scalar const number = is_integral(t.type) ? scalar(strange_integer(rng)) : scalar(strange_real(rng));
        aton::tensor const one =
            cast(tensor::of_scalar(number, is_integral(t.type) ? dtype::int64 : dtype::float64), t.type).to_constant();
        if (one.bytes.size() == width) t.bytes.replace(i * width, width, one.bytes);
    }
    return tensor::from_constant(t);
}

} // namespace

std::int64_t strange_integer(random& rng) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t one = 1;
    static constexpr std::array all = {std::int64_t{0}, one,       -one,      one * 2,      -one * 2,     one * 3,
                                       one * 4,         one * 7,   one * 16,  one * 255,    -one * 128,   one * 1000,
                                       one << 15,       one << 20, one << 30, one << 31,    -(one << 31), one << 32,
                                       (one << 32) + 1, one << 40, one << 61, -(one << 61), one << 62,    most,
                                       most - 1,        -most,     -most - 1};
    if (once_in(rng, 4)) return static_cast<std::int64_t>(up_to(rng, 12)) - 4;
    return one_of(all, rng);
}

double strange_real(random& rng) {
    using limits = std::numeric_limits<double>;
    static constexpr std::array all = {0.0,
                                       -0.0,
                                       1.0,
                                       -1.0,
                                       0.5,
                                       1.5,
                                       2.0,
                                       1e-3,
                                       1e-30,
                                       -1e-30,
                                       1e10,
                                       -1e10,
                                       3e38,
                                       1e300,
                                       -1e300,
                                       65504.0,
                                       0x1p31,
                                       0x1p63,
                                       -0x1p63,
                                       limits::infinity(),
                                       -limits::infinity(),
                                       limits::quiet_NaN(),
                                       limits::denorm_min(),
                                       limits::max()};
    return one_of(all, rng);
}

std::string strange_text(random& rng) {
    static std::array<std::string, 41> const all = {"",
                                                    "a",
                                                    "SAME_UPPER",
                                                    "SAME_LOWER",
                                                    "VALID",
                                                    "NOTSET",
                                                    "linear",
                                                    "nearest",
                                                    "cubic",
                                                    "area",
                                                    "reflect",
                                                    "edge",
                                                    "wrap",
                                                    "constant",
                                                    "zeros",
                                                    "border",
                                                    "bilinear",
                                                    "bicubic",
                                                    "forward",
                                                    "reverse",
                                                    "bidirectional",
                                                    "max",
                                                    "min",
                                                    "add",
                                                    "mul",
                                                    "sum",
                                                    "mean",
                                                    "none",
                                                    "avg",
                                                    "Tanh",
                                                    "Sigmoid",
                                                    "axis",
                                                    "axes",
                                                    "value",
                                                    "body",
                                                    "pads",
                                                    "...,ij",
                                                    "i,j->ij",
                                                    "asymmetric",
                                                    "half_pixel",
                                                    "tf_crop_and_resize"};
    if (once_in(rng, 6)) return std::string(up_to<std::size_t>(rng, 5000), static_cast<char>(up_to(rng, 255)));
    return one_of(all, rng);
}

dtype strange_type(random& rng) { return static_cast<dtype>(up_to(rng, static_cast<int>(dtype_count) - 1)); }

tensor changed(tensor const& of, random& rng) {
    if (!of) return of;
    switch (up_to(rng, 5)) {
    case 0: { // another dtype
        dtype const to = strange_type(rng);
        if (to == dtype::string)
            return tensor::of_strings(std::vector<std::string>(static_cast<std::size_t>(of.count()), "1"), of.sizes());
        if (of.is_strings() || to == dtype::undefined) return tensor::of_scalar(1, dtype::int32);
        try {
            return runtime::cast(of, to);
        } catch (error const&) {
            return of;
        }
    }
    case 1: { // another shape with few elements
        runtime::sizes to = of.sizes();
        change_list(to, rng, [&] { return up_to<std::int64_t>(rng, 5); });
        if (to.size() > 9 || runtime::count_of(to) > 100000) to = {0};
        tensor out = tensor::empty(of.dtype(), to);
        if (!of.is_strings() && out.count() != 0)
            std::fill_n(out.bytes(), static_cast<std::size_t>(out.count()) * element_bytes(of.dtype()), std::byte{0});
        return out;
    }
    case 2: // a view that is not contiguous
        if (of.rank() != 0 && of.count() != 0)
            return of.sliced(of.rank() - 1, of.size(of.rank() - 1) - 1, of.size(of.rank() - 1), -1);
        return of;
    default: return with_strange_elements(of, rng);
    }
}

void change(runnable& what, node_pool const& others, random& rng) {
    for (int n = up_to(rng, 3); n >= 0; --n) {
        if (once_in(rng, 3)) change_input(what, rng);
        else change_graph(what.graph, others, rng);
    }
}

} // namespace aton::tests
