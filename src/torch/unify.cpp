// SPDX-License-Identifier: MIT
#include "unify.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <ATen/ATen.h>

#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

#include "data_sizes.hpp"
#include "sizes.hpp"

namespace ATON_NAMESPACE::torch {

namespace {

using kind = program::argument_kind;
using program::extent;

std::string list_of(samples const& values) {
    std::string out;
    for (std::size_t i = 0; i != values.size(); ++i)
        out += (i == 0 ? "" : i + 1 == values.size() ? " and " : ", ") + std::to_string(values[i]);
    return out;
}

/// Equal bits, so that NaN is equal to itself.
bool is_same(scalar const& a, scalar const& b) {
    if (a.is_bool() != b.is_bool() || a.is_floating() != b.is_floating() || a.is_complex() != b.is_complex())
        return false;
    auto const same = [](double x, double y) { return x == y || (x != x && y != y); };
    if (a.is_complex()) return same(a.to<double>(), b.to<double>()) && same(a.imaginary(), b.imaginary());
    return a.is_floating() ? same(a.to<double>(), b.to<double>()) : a.to<std::int64_t>() == b.to<std::int64_t>();
}

bool is_same_data(at::Tensor const& a, at::Tensor const& b) {
    if (a.is_same(b)) return true;
    at::Tensor const x = a.detach().cpu().contiguous();
    at::Tensor const y = b.detach().cpu().contiguous();
    return x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() &&
           (x.nbytes() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0);
}

class unifier {
public:
    unifier(std::vector<recording> const& runs, std::vector<dim_name> const& dims)
        : runs_(runs),
          dims_(dims),
          out_(runs[0].listing),
          sizes_(out_) {}

    program::program run() {
        check_structure();
        for (std::size_t i = 0; i != out_.inputs.size(); ++i) visit_input(i);
        std::vector<program::node> old = std::move(out_.main.nodes);
        out_.main.nodes.clear();
        for (std::size_t i = 0; i != old.size(); ++i) {
            place_ = i;
            visit(old[i]);
            out_.main.nodes.push_back(std::move(old[i]));
        }
        return std::move(out_);
    }

private:
    template <class Get>
    [[nodiscard]] samples collect(Get const& get) const {
        samples out;
        for (recording const& r : runs_) out.push_back(get(r.listing));
        return out;
    }

    [[nodiscard]] static bool all_equal(samples const& values) {
        return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == values[0]; });
    }

    [[noreturn]] void fail(std::string const& what) const { throw error(out_.file + ": " + what); }

    [[nodiscard]] std::string call_name() const {
        program::node const& n = runs_[0].listing.main.nodes[place_];
        return "call " + std::to_string(place_ + 1) + " of " + std::to_string(runs_[0].listing.main.nodes.size()) +
               ", '" + n.op + "'";
    }

    [[nodiscard]] char const* cause() const {
        return dims_.empty() ? "on the elements of the inputs" : "on the sizes or the elements of the inputs";
    }

    /// The same operators, on the same values.
    void check_structure() const {
        program::program const& a = runs_[0].listing;
        for (recording const& r : runs_) {
            program::program const& b = r.listing;
            std::size_t const n = std::min(a.main.nodes.size(), b.main.nodes.size());
            for (std::size_t i = 0; i != n; ++i) {
                program::node const& x = a.main.nodes[i];
                program::node const& y = b.main.nodes[i];
                std::string const call = "call " + std::to_string(i + 1);
                if (x.op != y.op)
                    fail(call + " is '" + x.op + "' in one run and '" + y.op +
                         "' in another: the control flow of the module depends " + cause() +
                         ", which a model cannot express");
                if (!is_similar(x, y))
                    fail(call + ", '" + x.op +
                         "', has other operands or results in another run: the control flow of the module depends " +
                         cause() + ", which a model cannot express");
            }
            if (a.main.nodes.size() != b.main.nodes.size())
                fail("one run calls " + std::to_string(a.main.nodes.size()) + " operators and another " +
                     std::to_string(b.main.nodes.size()) + ": the control flow of the module depends " + cause() +
                     ", which a model cannot express");
            bool same = a.inputs.size() == b.inputs.size() && a.values.size() == b.values.size() &&
                        a.main.outputs.size() == b.main.outputs.size();
            for (std::size_t i = 0; same && i != a.main.outputs.size(); ++i)
                same = a.main.outputs[i].tensor.index == b.main.outputs[i].tensor.index;
            for (std::size_t i = 0; same && i != a.values.size(); ++i)
                same = a.values[i].type == b.values[i].type && a.values[i].sizes.size() == b.values[i].sizes.size() &&
                       a.values[i].strides.size() == b.values[i].strides.size();
            if (!same)
                fail(std::string("the constants, outputs or types of one run are not those of another: they depend ") +
                     cause());
        }
    }

    [[nodiscard]] static bool is_similar(program::argument const& a, program::argument const& b) {
        bool same = a.name == b.name && a.kind == b.kind && a.tensor.index == b.tensor.index && a.text == b.text &&
                    a.texts == b.texts && a.type == b.type && a.numbers.size() == b.numbers.size() &&
                    a.tensors.size() == b.tensors.size();
        for (std::size_t i = 0; same && i != a.tensors.size(); ++i) same = a.tensors[i].index == b.tensors[i].index;
        return same;
    }

    [[nodiscard]] static bool is_similar(program::node const& a, program::node const& b) {
        bool same = a.arguments.size() == b.arguments.size() && a.results.size() == b.results.size();
        for (std::size_t i = 0; same && i != a.arguments.size(); ++i) same = is_similar(a.arguments[i], b.arguments[i]);
        for (std::size_t i = 0; same && i != a.results.size(); ++i)
            same = a.results[i].values == b.results[i].values && a.results[i].is_list == b.results[i].is_list;
        return same;
    }

    void visit_input(std::size_t i) {
        program::input const& in = out_.inputs[i];
        if (in.kind != program::input_kind::user) {
            for (recording const& r : runs_)
                if (!is_same_data(runs_[0].weights[i], r.weights[i]))
                    fail("the constant '" + in.target + "' is not the same in all runs: C++ computes it from the " +
                         (dims_.empty() ? "" : "sizes or ") + "elements of the inputs; compute it with tensors");
            return;
        }
        for (dim_name const& each : dims_) {
            if (each.input != in.target) continue;
            auto const rank = static_cast<std::int64_t>(out_.values[in.value].sizes.size());
            auto const axis = static_cast<std::size_t>(each.axis < 0 ? each.axis + rank : each.axis);
            samples const values =
                collect([&](program::program const& p) { return p.values[in.value].sizes[axis].number; });
            bool is_known = false;
            for (known_size const& s : sizes_.all()) is_known = is_known || s.symbol.symbol == each.name;
            if (!is_known) sizes_.add(values, in.value, static_cast<std::int64_t>(axis), each.name);
        }
        set_type(in.value, nullptr, 0);
    }

    void visit(program::node& n) {
        for (std::size_t i = 0; i != n.arguments.size(); ++i) {
            program::argument& a = n.arguments[i];
            auto const settle = [&](program::number& x, auto const& same) {
                std::vector<scalar> values;
                for (recording const& r : runs_)
                    values.push_back(same(r.listing.main.nodes[place_].arguments[i]).constant);
                x = number_of(values, a.name);
            };
            if (a.kind == kind::number) settle(a.number, [](program::argument const& b) { return b.number; });
            for (std::size_t k = 0; k != a.numbers.size(); ++k)
                settle(a.numbers[k], [k](program::argument const& b) { return b.numbers[k]; });
        }
        for (std::size_t i = 0; i != n.results.size(); ++i)
            for (program::value_index const v : n.results[i].values)
                if (v != program::no_value) set_type(v, &n, i);
    }

    /// A number of a call: a constant, or nodes that compute it.
    program::number number_of(std::vector<scalar> const& values, std::string const& argument) {
        bool same = true;
        bool is_integer = true;
        for (scalar const& v : values) {
            same = same && is_same(v, values[0]);
            is_integer = is_integer && v.is_integral() && !v.is_bool();
        }
        if (same) return values[0];
        if (!is_integer)
            fail(call_name() + ": the argument '" + argument + "' depends " + cause() +
                 "; only integers may depend on sizes");
        samples numbers;
        for (scalar const& v : values) numbers.push_back(v.to<std::int64_t>());
        std::optional<relation> const found = sizes_.find(numbers);
        if (!found || sizes_.all()[found->size].tensor == program::no_value)
            fail(call_name() + ": the argument '" + argument + "' is " + list_of(numbers) + " in the runs" +
                 sizes_of_runs() +
                 ": neither a constant nor a sum or product of sizes; compute it with tensors, or give the dimension "
                 "another size");
        return compute(*found);
    }

    /// ", where batch is 4, 5 and 11"
    [[nodiscard]] std::string sizes_of_runs() const {
        std::string out;
        for (known_size const& s : sizes_.all())
            for (dim_name const& each : dims_)
                if (each.name == s.symbol.symbol && out.find(each.name + " is ") == std::string::npos)
                    out += (out.empty() ? ", where " : ", ") + each.name + " is " + list_of(s.values);
        return out;
    }

    program::number compute(relation const& r) {
        program::number x = size_node(r.size);
        if (r.is == relation::form::product) x = python("_operator.mul", x, size_node(r.other));
        if (r.factor != 1) x = python("_operator.mul", x, r.factor);
        if (r.is == relation::form::sum)
            x = python(r.sign == 1 ? "_operator.add" : "_operator.sub", x, size_node(r.other));
        if (r.offset != 0) x = python("_operator.add", x, r.offset);
        out_.values[x.computed].symbolic = sizes_.extent_of(r);
        return x;
    }

    program::value_index add_number(std::string name) {
        program::value v;
        v.name = std::move(name) + "_" + std::to_string(out_.values.size());
        v.kind = program::value_kind::sym_int;
        out_.values.push_back(std::move(v));
        return static_cast<program::value_index>(out_.values.size() - 1);
    }

    program::number size_node(std::size_t size) {
        auto const [known, is_new] = size_nodes_.try_emplace(size, program::no_value);
        if (is_new) {
            known_size const& s = sizes_.all()[size];
            known->second = add_number("sym_size_int");
            out_.values[known->second].symbolic = sizes_.extent_of({relation::form::linear, size});
            program::node n;
            n.op = "aten::sym_size.int";
            n.schema = aten::find_schema(n.op);
            n.name = out_.values[known->second].name;
            n.arguments.push_back(program::argument::of_tensor(s.tensor).named("self"));
            n.arguments.push_back(program::argument::of_number(s.axis).named("dim"));
            n.results.push_back({{known->second}, false});
            out_.main.nodes.push_back(std::move(n));
        }
        return program::number::of_value(known->second);
    }

    program::number python(std::string const& op, program::number const& a, program::number const& b) {
        program::node n;
        n.kind = program::node_kind::python;
        n.op = op;
        n.arguments.push_back(program::argument::of_number(a));
        n.arguments.push_back(program::argument::of_number(b));
        program::value_index const made = add_number(op.substr(op.rfind('.') + 1));
        n.name = out_.values[made].name;
        n.results.push_back({{made}, false});
        out_.main.nodes.push_back(std::move(n));
        return program::number::of_value(made);
    }

    /// Sizes and strides of an input (`n` is null) or a result.
    void set_type(program::value_index v, program::node const* n, std::size_t result) {
        for (std::size_t axis = 0; axis != out_.values[v].sizes.size(); ++axis) {
            samples const values = collect([&](program::program const& p) { return p.values[v].sizes[axis].number; });
            bool const is_of_data = n != nullptr && has_size_of_data(out_, *n, result, axis);
            if (is_of_data && all_equal(values))
                fail(call_name() + ": dimension " + std::to_string(axis) +
                     " of its result depends on elements, and is " + std::to_string(values[0]) +
                     " in all runs, so that what depends on it cannot be told from constants; give `examples` in which "
                     "it differs");
            if (!is_of_data && all_equal(values)) continue;
            std::optional<relation> found;
            if (!is_of_data) found = sizes_.find(values);
            if (!found && n == nullptr)
                fail("dimension " + std::to_string(axis) + " of input '" + out_.values[v].name + "' is " +
                     list_of(values) + " in the examples: name it in `dims`");
            if (!found)
                found = relation{relation::form::linear, sizes_.add(values, v, static_cast<std::int64_t>(axis))};
            out_.values[v].sizes[axis] = sizes_.extent_of(*found);
        }
        auto const settle = [&](extent& e, auto const& get) {
            samples const values = collect(get);
            if (all_equal(values)) return;
            std::optional<relation> found = sizes_.find(values);
            if (!found) found = relation{relation::form::linear, sizes_.add(values, program::no_value, 0)};
            e = sizes_.extent_of(*found);
        };
        for (std::size_t i = 0; i != out_.values[v].strides.size(); ++i)
            settle(out_.values[v].strides[i], [&](program::program const& p) { return p.values[v].strides[i].number; });
        settle(out_.values[v].storage_offset,
               [&](program::program const& p) { return p.values[v].storage_offset.number; });
    }

    std::vector<recording> const& runs_;
    std::vector<dim_name> const& dims_;
    program::program out_;
    size_table sizes_;
    std::map<std::size_t, program::value_index> size_nodes_;
    std::size_t place_ = 0; ///< the call that is visited
};

} // namespace

program::program unify(std::vector<recording> const& runs, std::vector<dim_name> const& dims) {
    return unifier(runs, dims).run();
}

} // namespace ATON_NAMESPACE::torch
