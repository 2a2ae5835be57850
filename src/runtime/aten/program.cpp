// SPDX-License-Identifier: MIT
// The interpreter of ATen programs. Runs nodes in order and drops values after their last use.
#include <aton/runtime/aten_program.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/model_io/weights.hpp>
#include <aton/program/arithmetic.hpp>

#include "program_frame.hpp"
#include "runtime/error_boundary.hpp"

namespace ATON_NAMESPACE::runtime {

using program::argument_kind;
using program::no_value;
using program::value_index;
using program::value_kind;

namespace {

constexpr int max_graph_nesting = 64; ///< nesting of graphs

/// An error that already names its place.
class located_error : public error {
public:
    using error::error;
};

tensor load_weight(stored_tensor const& from, device where) {
    tensor const here = tensor::empty(from.type, from.sizes);
    std::size_t done = 0;
    read_stored(from, [&](std::byte const* piece, std::size_t bytes) {
        std::copy(piece, piece + bytes, here.bytes() + done);
        done += bytes;
    });
    if (from.type == dtype::bool_) return to_device(unequal(here.reinterpreted(dtype::uint8), 0), where);
    return to_device(here, where);
}

last_uses last_uses_in(program::graph const& g) {
    last_uses out(g.nodes.size());
    std::map<value_index, std::size_t> last;
    for (std::size_t n = 0; n != g.nodes.size(); ++n) {
        for (program::argument const& a : g.nodes[n].arguments)
            program::for_each_value(a, [&](value_index v) { last[v] = n; });
        for (program::result const& r : g.nodes[n].results)
            for (value_index const v : r.values) last[v] = n; // if it has no use
    }
    for (program::argument const& a : g.outputs) program::for_each_value(a, [&](value_index v) { last.erase(v); });
    last.erase(no_value);
    for (auto const& [v, n] : last) out[n].push_back(v);
    return out;
}

/// "[2, *, 3]", where * is a size that is not a number.
std::string stated_sizes(program::value const& v) {
    std::string out;
    for (program::extent const& e : v.sizes)
        out += (out.empty() ? "" : ", ") + (e.is_number() ? std::to_string(e.number) : "*");
    return '[' + out + ']';
}

void check_input(program::value const& stated, tensor const& given) {
    if (!stated.has_type || stated.kind != value_kind::tensor) return;
    bool fits = given.dtype() == stated.type && given.rank() == stated.sizes.size();
    for (std::size_t i = 0; fits && i != given.rank(); ++i)
        fits = !stated.sizes[i].is_number() || stated.sizes[i].number == given.size(i);
    if (!fits)
        throw error("input '" + stated.name + "' is " + std::string(name(given.dtype())) + to_string(given.sizes()) +
                    ", the program expects " + std::string(name(stated.type)) + stated_sizes(stated));
}

} // namespace

std::vector<value> aten_program::frame::run(std::span<value const> inputs) {
    std::size_t next = 0;
    for (std::size_t i = 0; i != p_.inputs.size(); ++i) {
        program::input const& in = p_.inputs[i];
        bool const users = in.kind == program::input_kind::user;
        if (users && next == inputs.size()) throw error("too few inputs: " + std::to_string(next));
        if (users && in.value != no_value) take_input(in, inputs[next]);
        if (users) ++next;
        else if (in.value != no_value) values_[in.value].whole = state_.weights[i];
    }
    if (next != inputs.size())
        throw error(std::to_string(inputs.size()) + " inputs were given, the program takes " + std::to_string(next));
    execute(p_.main, state_.main);
    std::vector<value> out;
    for (std::size_t i = 0; i != p_.main.outputs.size(); ++i) {
        bool const is_token = i < p_.outputs.size() && p_.outputs[i].kind == program::output_kind::token;
        out.push_back(is_token ? value() : output(p_.main.outputs[i]));
    }
    return out;
}

void aten_program::frame::take_input(program::input const& in, value const& given) {
    program::value const& stated = p_.values[in.value];
    if (!given.is_tensor()) throw error("input '" + stated.name + "' is not a tensor");
    check_input(stated, given.one());
    bind(in.value, {to_device(given.one(), state_.options.where), {}});
}

value aten_program::frame::output(program::argument const& a) const {
    if (a.kind == argument_kind::none) return {};
    if (a.kind != argument_kind::tensors) return slot_of(a).as_tensor(state_.options.where);
    std::vector<tensor> out;
    for (value_index const v : a.tensors) out.push_back(at(v).as_tensor(state_.options.where));
    return out;
}

void aten_program::frame::execute(program::graph const& g, last_uses const& last) {
    if (++depth_ > max_graph_nesting) throw error("graphs are nested too deeply");
    spend_step(); // a body may be empty
    for (std::size_t i = 0; i != g.nodes.size(); ++i) {
        program::node const& n = g.nodes[i];
        try {
            spend_step();
            run_node(n);
            if (observer_ && depth_ == 1) show(n);
        } catch (located_error const&) {
            throw;
        } catch (std::exception const& e) { // such as std::bad_alloc
            std::string_view why = e.what();
            if (why.starts_with(n.op + ": ")) why.remove_prefix(n.op.size() + 2);
            throw located_error(program::describe(p_, n) + ": " + std::string(why));
        }
        for (value_index const v : last[i]) values_[v] = {};
    }
    --depth_;
}

void aten_program::frame::spend_step() {
    if (++steps_ > state_.options.max_steps)
        throw error("the run takes more than " + std::to_string(state_.options.max_steps) + " steps");
}

void aten_program::frame::show(program::node const& n) const {
    std::vector<value> results;
    for (value_index const v : result_values(n))
        results.push_back(v == no_value || !values_[v] ? value() : value(values_[v].as_tensor(state_.options.where)));
    observer_(n, results);
}

void aten_program::frame::run_node(program::node const& n) {
    switch (n.kind) {
    case program::node_kind::aten: return run_operator(n);
    case program::node_kind::python: return run_python(n);
    case program::node_kind::higher_order: return run_higher_order(n);
    }
}

void aten_program::frame::run_operator(program::node const& n) {
    std::vector<aten_argument> arguments;
    aten::schema_argument formal;
    aten::argument_cursor names{n.schema};
    bool named = names.next(formal);
    for (program::argument const& a : n.arguments) {
        if (a.name.empty() && !named) throw error("more arguments than the schema has");
        arguments.push_back(argument_of(a, a.name.empty() ? formal.name : std::string_view(a.name)));
        named = named && names.next(formal);
    }
    aten_options options = state_.options;
    options.seed = seed_++;
    aten_results given = call_aten(n.op, std::move(arguments), options);
    if (given.results.size() < n.results.size())
        throw error(std::to_string(given.results.size()) + " results were computed, the program has " +
                    std::to_string(n.results.size()));
    for (std::size_t i = 0; i != n.results.size(); ++i) {
        program::result const& to = n.results[i];
        if (!to.is_list) {
            if (!to.values.empty()) bind(to.values[0], {given.results[i].one(), {}});
            continue;
        }
        std::vector<tensor> const& many = given.results[i].many();
        if (many.size() != to.values.size())
            throw error(std::to_string(many.size()) + " tensors were computed, the program has " +
                        std::to_string(to.values.size()));
        for (std::size_t k = 0; k != many.size(); ++k) bind(to.values[k], {many[k], {}});
    }
}

void aten_program::frame::run_python(program::node const& n) {
    std::vector<scalar> operands;
    for (program::argument const& a : n.arguments)
        for (slot const& s : slots_of(a)) operands.push_back(s.as_number());
    std::optional<scalar> const out = program::compute(n.op, operands);
    if (!out) throw error("this node cannot be computed");
    bind_all(n, {{{}, out}});
}

aten_program::state::state(program::program of, aten_options with) : p(std::move(of)), options(with) {
    program::inline_wrappers(p);
    program::functionalize(p);
    program::remove_dead_nodes(p);
    check(p.main);
    main = last_uses_in(p.main);
    for (program::graph const& g : p.subgraphs) subgraphs.push_back(last_uses_in(g));
    for (program::input const& in : p.inputs) {
        bool const stored = in.value != no_value && in.data.type != dtype::undefined;
        weights.push_back(stored ? load_weight(in.data, options.where) : tensor());
    }
}

aten_program::aten_program(program::program p, aten_options options)
    : state_(with_one_line_errors([&] { return std::make_unique<state>(std::move(p), options); })) {}

aten_program::aten_program(aten_program&&) noexcept = default;
aten_program& aten_program::operator=(aten_program&&) noexcept = default;
aten_program::~aten_program() = default;

program::program const& aten_program::functional() const { return state_->p; }

std::vector<value> aten_program::run(std::span<value const> inputs, aten_observer const& observer) const {
    return with_one_line_errors([&] { return frame(*state_, observer).run(inputs); });
}

} // namespace ATON_NAMESPACE::runtime
