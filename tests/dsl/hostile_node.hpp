// SPDX-License-Identifier: MIT
// Random graphs of one node: any operator of ONNX, with shapes, constants and attributes that mostly contradict each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/dsl/node_builder.hpp>
#include <aton/ir/graph.hpp>
#include <aton/onnx/registry.hpp>

namespace random_graphs {

class hostile_node {
public:
    /// Made in one graph, for the schema in force at its opset; infer() completes it.
    hostile_node(aton::onnx::op_schema schema, int opset, std::uint64_t seed) : schema_(schema), rng_(seed) {
        data.name = "hostile";
        data.opset = opset;
        bound_.assign(static_cast<std::size_t>(schema.type_var_count()), aton::dtype::undefined);
        for (std::int64_t n = number(0, 4); n != 0; --n) base_.push_back(usual_size());
        aton::graph_node n;
        n.op = schema.name();
        add_inputs(n);
        for (int i = 0; i != schema.attribute_count(); ++i)
            if (schema.attr(i).required ? !chance(2) : chance(40)) add_attribute(n, schema.attr(i));
        add_outputs(n);
        data.nodes.push_back(std::move(n));
        for (aton::value_id id : data.nodes.back().outputs)
            data.values[id].producer = static_cast<std::int64_t>(data.nodes.size()) - 1;
    }

    aton::graph_data data;

    /// The node; constants are before it.
    [[nodiscard]] aton::graph_node const& node() const { return data.nodes.back(); }

private:
    using dtype = aton::dtype;

    std::int64_t number(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
    }
    bool chance(int percent) { return number(1, 100) <= percent; }
    template <class List>
    auto one_of(List const& list) {
        return list[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(std::size(list)) - 1))];
    }

    std::int64_t usual_size() { return chance(20) ? 1 : number(1, 6); }
    std::int64_t strange_number() {
        constexpr std::int64_t one = 1;
        static constexpr std::int64_t all[] = {0,
                                               -1,
                                               -2,
                                               1,
                                               7,
                                               one << 31,
                                               (one << 31) - 1,
                                               one << 62,
                                               -(one << 62),
                                               INT64_MAX,
                                               INT64_MIN,
                                               INT64_MIN + 1,
                                               one << 40,
                                               100};
        return one_of(all);
    }
    /// A number in a list of sizes, axes, pads, etc.
    std::int64_t any_number(int strange) { return chance(strange) ? strange_number() : number(-3, 6); }

    aton::dim any_dim(std::int64_t usual) {
        switch (number(0, 19)) {
        case 0: return std::string("n");
        case 1: return std::string("m");
        case 2: return {};
        case 3: return chance(50) ? std::int64_t{0} : std::int64_t{1} << 62;
        case 4: return std::int64_t{1} << number(20, 62);
        case 5: return 1;
        case 6: return usual_size();
        default: return usual;
        }
    }
    aton::shape any_shape() {
        std::vector<aton::dim> out;
        if (chance(25)) {
            for (std::int64_t n = number(0, 5); n != 0; --n) out.push_back(any_dim(usual_size()));
        } else {
            for (std::int64_t const n : base_) out.push_back(chance(90) ? aton::dim(n) : any_dim(n));
            if (!out.empty() && chance(20)) out.erase(out.begin());
            else if (chance(10)) out.insert(out.begin(), any_dim(2));
        }
        return aton::shape(out);
    }

    dtype any_type(aton::type_set allowed) {
        static constexpr dtype preferred[] = {dtype::float32, dtype::int64, dtype::int32, dtype::bool_, dtype::uint8};
        for (dtype const t : preferred)
            if (allowed.contains(t) && chance(60)) return t;
        std::vector<dtype> all;
        for (std::size_t i = 1; i != aton::dtype_count; ++i)
            if (allowed.contains(static_cast<dtype>(i))) all.push_back(static_cast<dtype>(i));
        return all.empty() ? dtype::undefined : one_of(all);
    }
    dtype type_of(aton::onnx::formal const& f) {
        if (f.type_var < 0 || !f.homogeneous) return any_type(f.types);
        dtype& known = bound_[static_cast<std::size_t>(f.type_var)];
        if (known == dtype::undefined) known = any_type(f.types);
        return known;
    }

    void add_inputs(aton::graph_node& n) {
        for (int i = 0; i != schema_.input_count(); ++i) {
            aton::onnx::formal const f = schema_.input(i);
            std::int64_t count = f.kind == aton::onnx::option::variadic ? number(f.min_arity, f.min_arity + 2) : 1;
            for (; count != 0; --count) {
                if (f.kind == aton::onnx::option::optional && chance(40)) n.inputs.push_back(aton::no_value);
                else n.inputs.push_back(input(type_of(f), f.name));
            }
        }
        while (!n.inputs.empty() && n.inputs.back() == aton::no_value) n.inputs.pop_back();
    }
    aton::value_id input(dtype type, std::string_view name) {
        bool const lists = (type == dtype::int64 || type == dtype::int32) && name != "data" && name != "X";
        if (aton::tensor::can_hold(type) && chance(lists ? 70 : type == dtype::float32 ? 10 : 25))
            return constant(type);
        if (lists && chance(50))
            return data.add_input(
                "x" + std::to_string(data.inputs.size()),
                {type,
                 aton::shape(std::vector<aton::dim>(static_cast<std::size_t>(number(0, 1)), aton::dim(number(0, 6))))});
        return data.add_input("x" + std::to_string(data.inputs.size()), {type, any_shape()});
    }
    std::size_t length() {
        std::size_t const rank = base_.size();
        std::size_t const likely[] = {
            rank, rank, rank, 2 * rank, 1, 1, 2 * rank - (rank > 0 ? 2 : 0), static_cast<std::size_t>(number(0, 5))};
        return one_of(likely);
    }
    std::vector<std::int64_t> numbers(std::size_t count) {
        std::vector<std::int64_t> out;
        int const strange = chance(50) ? 0 : 30;
        std::int64_t const style = number(0, 3);
        for (std::size_t i = 0; i != count; ++i)
            out.push_back(chance(strange)                  ? strange_number()
                          : style == 0                     ? number(0, 2)
                          : style == 1 && i < base_.size() ? base_[i]
                          : style == 2                     ? static_cast<std::int64_t>(i)
                                                           : number(-3, 6));
        return out;
    }
    aton::value_id constant(dtype type) {
        std::vector<std::int64_t> sizes;
        std::int64_t const rank = number(0, 9);
        if (rank == 1 || rank > 4) sizes.push_back(static_cast<std::int64_t>(length()));
        if (rank == 3 || rank == 4) sizes = {static_cast<std::int64_t>(length()), number(0, 3)};
        std::int64_t count = 1;
        for (std::int64_t const s : sizes) count *= s;
        aton::tensor t{type, sizes, {}};
        for (std::int64_t const v : numbers(static_cast<std::size_t>(count)))
            t.append(aton::is_floating(type) ? aton::scalar(static_cast<double>(v) / (chance(30) ? 2.0 : 1.0))
                                             : aton::scalar(v));
        if (chance(70)) return aton::dsl::detail::append_constant(data, std::move(t));
        aton::value_id const id =
            data.add_value(aton::value_type{type, aton::shape(sizes)}, "w" + std::to_string(data.values.size()));
        data.set_initializer(id, std::move(t));
        return id;
    }

    /// Attributes that ONNX's inference compares with 0 or with 1: no mapping writes other numbers.
    static bool is_switch(std::string_view name) {
        static constexpr std::string_view all =
            " keepdims transA transB noop_with_empty_axes allowzero ceil_mode count_include_pad"
            " exclude_outside antialias training_mode select_last_index fmod upper sorted largest"
            " is_causal input_forget linear_before_reset layout align_corners onesided inverse"
            " exclusive reverse interleaved saturate periodic new_axis across_channels ";
        return all.find(" " + std::string(name) + " ") != std::string_view::npos;
    }

    void add_attribute(aton::graph_node& n, aton::onnx::attribute const& declared) {
        aton::node_attribute a;
        a.name = declared.name;
        a.type = declared.type;
        using type = aton::onnx::attr_type;
        switch (declared.type) {
        case type::i:
            a.i = any_number(15);
            if (is_switch(a.name))
                a.i = a.name == "ceil_mode" && data.opset < 22 ? 0 : number(0, 1); // inference and runtimes differ
            else if (a.name == "to" || a.name == "dtype" || a.name.ends_with("_dtype") || a.name == "stash_type")
                a.i = number(1, 16);
            else if (a.i < 0 && chance(50)) a.i = number(0, 3);
            break;
        case type::f: a.f = static_cast<float>(number(-2, 4)) / 2; break;
        case type::s: a.s = text(a.name); break;
        case type::ints: {
            std::size_t const rank = base_.size();
            std::size_t const spatial = rank < 2 ? 0 : rank - 2;
            std::size_t const likely[] = {spatial, spatial, 2 * spatial, rank, length()};
            a.ints = numbers(a.name == "pads" && chance(70) ? 2 * spatial : one_of(likely));
            if (chance(50))
                for (std::int64_t& k : a.ints) k = k < 0 ? 1 : k;
            break;
        }
        case type::floats:
            for (std::size_t k = length(); k != 0; --k) a.floats.push_back(static_cast<float>(number(-1, 4)) / 2);
            break;
        case type::strings: a.strings.assign(length(), "a"); break;
        case type::t: {
            aton::tensor t{dtype::float32, {}, {}};
            if (chance(60)) t.sizes.push_back(number(0, 2));
            for (std::int64_t k = t.element_count(); k != 0; --k) t.append(aton::scalar(1));
            a.tensors.push_back(std::move(t));
            break;
        }
        default: return;
        }
        n.attributes.push_back(std::move(a));
    }
    std::string text(std::string_view name) {
        static char const* const pads[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
        static char const* const directions[] = {"forward", "reverse", "bidirectional", "LEFT", "RIGHT"};
        static char const* const reductions[] = {"none", "mean", "sum", "add", "max"};
        static char const* const modes[] = {
            "constant", "reflect", "nearest", "linear", "cubic", "bilinear", "DCR", "CRD", "wrap"};
        static char const* const equations[] = {"ij,jk->ik",
                                                "i,i->",
                                                "...i,...i->...",
                                                "ij->ji",
                                                "ii->i",
                                                "i,j->ij",
                                                "...,...->...",
                                                "a...b,b...->a",
                                                "ij",
                                                "->",
                                                "",
                                                "i->k",
                                                "ij,j",
                                                "bij,bjk->bik",
                                                "...ij->...ji",
                                                "i...,i->i...",
                                                "bn...,anm,bm...->ba...",
                                                "...a,abc,...c->...b"};
        static char const* const others[] = {
            "half_pixel", "align_corners", "asymmetric", "floor", "tanh", "gelu", "none", ""};
        if (chance(3)) return "x";
        if (name == "auto_pad")
            return schema_.name() == "ConvTranspose" ? "NOTSET"
                                                     : one_of(pads); // ONNX's inference contradicts its documentation
        if (name == "direction") return one_of(directions);
        if (name == "reduction") return one_of(reductions);
        if (name == "mode") return one_of(modes);
        if (name == "equation") return one_of(equations);
        if (name == "keep_aspect_ratio_policy") return "stretch"; // the only one that mappings write
        return one_of(others);
    }

    void add_outputs(aton::graph_node& n) {
        std::int64_t count = number(schema_.min_outputs(), schema_.output_count());
        if (schema_.max_outputs() == aton::onnx::any_number) count = number(1, 4);
        for (std::int64_t i = 0; i < count; ++i) {
            aton::onnx::formal const f =
                schema_.output(static_cast<int>(i < schema_.output_count() ? i : schema_.output_count() - 1));
            aton::value_type t;
            if (f.type_var >= 0 && f.homogeneous) t.dtype = bound_[static_cast<std::size_t>(f.type_var)];
            if (t.dtype == dtype::undefined) t = aton::dsl::detail::only_type(f.types);
            n.outputs.push_back(data.add_value(t));
        }
    }

    aton::onnx::op_schema schema_;
    std::mt19937_64 rng_;
    std::vector<dtype> bound_;
    std::vector<std::int64_t> base_;
};

} // namespace random_graphs
