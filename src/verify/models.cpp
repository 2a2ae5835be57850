// SPDX-License-Identifier: MIT
// Runs a program and a graph on the same inputs, compares their outputs, and writes the report.
#include <aton/verify/models.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/runtime/aten_program.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/translation.hpp>

#include "divergence.hpp"
#include "model_inputs.hpp"
#include "narrowest.hpp"
#include "reasons.hpp"
#include "report_text.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using program::input_kind;
using runtime::tensor;
using runtime::value;

/// An output of the program that a graph may have; a list gives one per element.
struct expected_output {
    std::string name;
    std::size_t number = 0; ///< index into program::main.outputs
    bool is_users = false;
    tensor data;
    dtype rounded = dtype::undefined; ///< the narrowest dtype of its computation
};

class model_check {
public:
    model_check(program::program const& p, graph_data const& g, model_options const& options)
        : options_(options),
          program_(p),
          graph_(g, {options.where, options.seed}),
          terms_(1000 + 100 * static_cast<std::int64_t>(p.main.nodes.size())),
          sets_(static_cast<std::size_t>(is_recorded(options) ? 1 : options.samples)) {
        if (options.outputs.empty()) runner_.emplace(p, runtime::aten_options{options.where, options.seed});
        narrowest_ = narrowest_dtypes(functional());
    }

    model_report run() {
        for (std::size_t i = 0; i != sets_ && report_.passed(); ++i) check(options_.seed + i);
        return std::move(report_);
    }

private:
    static bool is_recorded(model_options const& o) { return !o.inputs.empty() || !o.outputs.empty(); }
    [[nodiscard]] program::program const& functional() const { return runner_ ? runner_->functional() : program_; }

    /// Reports the progress of one run after another: `before` nodes of this set of inputs ran in other runs.
    template <class Node>
    [[nodiscard]] std::function<void(Node const&, std::span<value const>)> counter(std::size_t before) const {
        if (!options_.progress) return {};
        std::size_t const nodes_of_program = functional().main.nodes.size();
        std::size_t const each = nodes_of_program + graph_.graph().nodes.size();
        std::size_t const set = static_cast<std::size_t>(report_.samples);
        return [this, each, done = set * each + before](Node const&, std::span<value const>) mutable {
            options_.progress(++done, sets_ * each);
        };
    }

    /// Finds inputs that the program accepts, and returns its outputs for them.
    std::vector<value> run_program(std::uint64_t seed, std::vector<value>& inputs) const {
        if (is_recorded(options_)) {
            inputs = options_.inputs;
            if (!options_.outputs.empty()) return recorded_outputs();
            return runner_->run(inputs, counter<program::node>(0));
        }
        std::string fault;
        for (int i = 0; i != max_tries; ++i) {
            inputs = draw_inputs(functional(), seed, i);
            try {
                return runner_->run(inputs, counter<program::node>(0));
            } catch (error const& e) {
                if (fault.empty()) fault = e.what();
            }
        }
        throw error("the program rejects all inputs that were drawn, pass inputs: " + fault);
    }

    /// The recorded outputs, if there are as many as the program has of its users.
    [[nodiscard]] std::vector<value> recorded_outputs() const {
        program::program const& p = functional();
        std::vector<value> out(p.outputs.size());
        std::size_t next = 0;
        for (std::size_t i = 0; i != out.size(); ++i) {
            using enum program::output_kind;
            program::argument const& a = p.main.outputs[i];
            bool const is_tensor = program::value_of(a) != program::no_value;
            if (p.outputs[i].kind != user || !is_tensor) continue;
            if (next < options_.outputs.size()) out[i] = options_.outputs[next];
            ++next;
        }
        if (next != options_.outputs.size())
            throw error("the program has " + std::to_string(next) + " outputs that are tensors, but " +
                        std::to_string(options_.outputs.size()) + " are recorded");
        return out;
    }

    /// The program's inputs in the order of the graph's.
    [[nodiscard]] std::vector<value> inputs_of_graph(std::vector<value> const& inputs) const {
        std::vector<std::pair<std::string, value>> given;
        std::size_t next = 0;
        program::program const& p = functional();
        for (program::input const& in : p.inputs) {
            if (in.kind != input_kind::user) continue;
            if (next == inputs.size()) throw error("the program has more inputs than are given");
            value const& v = inputs[next++];
            if (in.value != program::no_value)
                given.emplace_back(p.values[in.value].name, v.is_tensor() ? value(in_reals(v.one())) : v);
        }
        graph_data const& g = graph_.graph();
        std::vector<value> out;
        std::string missing;
        for (value_id const id : g.inputs) {
            graph_value const& in = g.values[id];
            auto const found =
                std::find_if(given.begin(), given.end(), [&](auto const& each) { return each.first == in.name; });
            if (found == given.end() && in.initializer < 0 && missing.empty()) missing = in.name;
            out.push_back(found == given.end() ? value() : found->second);
        }
        if (missing.empty()) return out;
        std::size_t const needed = static_cast<std::size_t>(
            std::count_if(g.inputs.begin(), g.inputs.end(), [&](value_id id) { return g.values[id].initializer < 0; }));
        if (needed != given.size())
            throw error("the graph has an input '" + missing + "', which the program does not have");
        std::size_t at = 0;
        for (std::size_t i = 0; i != out.size(); ++i)
            if (g.values[g.inputs[i]].initializer < 0) out[i] = given[at++].second;
        return out;
    }

    /// User outputs first, as in graphs.
    [[nodiscard]] std::vector<expected_output> outputs_of_program(std::vector<value> const& given) const {
        std::vector<expected_output> out;
        program::program const& p = functional();
        for (std::size_t i = 0; i != given.size(); ++i) {
            std::vector<tensor> const one{given[i].one()};
            std::vector<tensor> const& all = given[i].is_sequence() ? given[i].many() : one;
            for (std::size_t k = 0; k != all.size(); ++k) {
                if (!all[k]) continue;
                program::argument const& a = p.main.outputs[i];
                bool const is_list = a.kind == program::argument_kind::tensors;
                program::value_index const v = is_list ? a.tensors.at(k).index : program::value_of(a);
                bool const named = v != program::no_value;
                using enum program::output_kind;
                program::output_kind const kind = p.outputs[i].kind;
                out.push_back({named ? p.values[v].name : "output_" + std::to_string(i),
                               i,
                               kind == user || kind == loss || kind == gradient,
                               in_reals(all[k]),
                               named ? narrowest_.at(v) : dtype::undefined});
            }
        }
        std::stable_partition(out.begin(), out.end(), [](expected_output const& e) { return e.is_users; });
        return out;
    }

    void check(std::uint64_t seed) {
        std::vector<value> inputs;
        std::vector<expected_output> expected = outputs_of_program(run_program(seed, inputs));
        std::vector<value> const graph_inputs = inputs_of_graph(inputs);
        auto const count = counter<graph_node>(functional().main.nodes.size());
        ++report_.samples;
        std::vector<tensor> got;
        try {
            for (value const& v : graph_.run(graph_inputs, count)) {
                if (v.is_sequence()) got.insert(got.end(), v.many().begin(), v.many().end());
                else if (v.is_tensor()) got.push_back(v.one());
            }
        } catch (error const& e) {
            std::size_t const output = expected.empty() ? 0 : expected.front().number;
            return differs(std::string(does_not_run) + e.what(), inputs, graph_inputs, output);
        }
        if (got.size() != expected.size())
            std::erase_if(expected, [](expected_output const& e) { return !e.is_users; });
        if (got.size() != expected.size())
            throw error("the graph has " + std::to_string(got.size()) + " outputs, but the program has " +
                        std::to_string(expected.size()));
        for (std::size_t i = 0; i != got.size(); ++i) {
            if (report_.outputs.size() == i) report_.outputs.push_back({expected[i].name});
            comparison const c = compare(got[i], expected[i].data, terms_, expected[i].rounded);
            report_.outputs[i].elements += c.elements;
            report_.outputs[i].worst_error = std::max(report_.outputs[i].worst_error, c.error);
            if (!c.same() && report_.passed())
                differs("output '" + expected[i].name + "': " + to_string(c), inputs, graph_inputs, expected[i].number);
        }
        if (options_.nodes && report_.nodes.empty() && options_.outputs.empty())
            report_.nodes =
                compare_nodes(*runner_, inputs, graph_, graph_inputs, std::nullopt, narrowest_, terms_).nodes;
    }

    void differs(std::string why, std::vector<value> const& inputs, std::vector<value> const& graph_inputs,
                 std::size_t output) {
        report_.difference = std::move(why);
        if (!options_.outputs.empty()) return; // the program does not run
        compared_nodes found = compare_nodes(*runner_, inputs, graph_, graph_inputs, output, narrowest_, terms_);
        report_.first_divergence = std::move(found.first);
        if (options_.nodes) report_.nodes = std::move(found.nodes);
    }

    model_options const& options_;
    program::program const& program_;
    std::optional<runtime::aten_program> runner_; ///< none if the outputs are recorded
    runtime::onnx_model graph_;
    std::vector<dtype> narrowest_; ///< of each value of the program
    std::int64_t terms_;
    std::size_t sets_; ///< of inputs
    model_report report_;
};

} // namespace

model_report compare_models(program::program const& p, graph_data const& g, model_options const& options) {
    return model_check(p, g, options).run();
}

std::string text_of(std::span<output_report const> outputs) {
    std::string out;
    for (output_report const& o : outputs)
        out += on_one_line(o.name) + ": " + std::to_string(o.elements) + " elements, worst error " +
               short_text(o.worst_error) + " of the tolerance\n";
    return out;
}

std::string same_on(int samples) {
    return "the same on " + std::to_string(samples) + (samples == 1 ? " sample\n" : " samples\n");
}

void write_outputs(json_writer& out, std::span<output_report const> outputs) {
    out.name("outputs").array(outputs, [&](output_report const& o) {
        out.begin_object().field("name", o.name).field("elements", o.elements);
        out.name("worst_error").value(o.worst_error, shown_digits).end_object();
    });
}

std::string_view text_of(node_verdict v) {
    return v == node_verdict::unknown ? "unknown" : v == node_verdict::same ? "same" : "different";
}

std::string model_report::to_text() const {
    std::string out = text_of(outputs);
    if (passed()) return out + same_on(samples);
    out += difference + '\n';
    if (first_divergence.node.empty()) return out + "no diverging node was found\n";
    out += "the first diverging node: " + first_divergence.node;
    if (!first_divergence.graph_node.empty())
        out += "\n    in the graph: " + first_divergence.graph_node + ": " + first_divergence.why;
    else if (!first_divergence.why.empty()) out += "\n    " + first_divergence.why;
    if (!first_divergence.same_before.empty()) {
        out += "\n    same up to:";
        for (std::string const& name : first_divergence.same_before) out += ' ' + name;
    }
    if (first_divergence.reads_nan)
        out += "\n    it reads NaN, which a graph of aton export --nan fast, the default, may treat otherwise: compare "
               "one of --nan exact";
    return out + '\n';
}

std::string model_report::to_json() const {
    json_writer out;
    out.begin_object().field("passed", passed()).field("samples", samples);
    write_outputs(out, outputs);
    out.field("difference", difference).field("node", first_divergence.node);
    out.field("graph_node", first_divergence.graph_node).field("why", first_divergence.why);
    out.name("same_before").array(first_divergence.same_before);
    out.field("reads_nan", first_divergence.reads_nan);
    out.name("nodes").array(nodes, [&](node_report const& n) {
        out.begin_object().field("name", n.name);
        out.field("verdict", text_of(n.verdict));
        out.name("worst_error").value(n.worst_error, shown_digits).field("why", n.why);
        out.field("is_first_divergence", n.is_first_divergence).end_object();
    });
    out.end_object();
    return out.text() + '\n';
}

} // namespace ATON_NAMESPACE::verify
