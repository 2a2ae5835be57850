// SPDX-License-Identifier: MIT
// The passes of an export over the graph of a file.
#include <aton/exporter/optimize.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/nearest.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/ir/print.hpp>
#include <aton/model_io/kept_model.hpp>
#include <aton/model_io/legality.hpp>
#include <aton/passes/passes.hpp>

#include "select_rewrites.hpp"
#include "target_limits.hpp"

namespace ATON_NAMESPACE {

namespace {

/// The outputs of a graph by name, and the values that a user wants to keep.
class named_outputs {
public:
    named_outputs(graph_data& graph, std::vector<std::string> const& keep) {
        for (value_id id : graph.outputs) add(graph, id);
        std::unordered_map<std::string_view, value_id> values;
        for (value_id id = 0; id != graph.values.size(); ++id)
            if (graph.values[id].outer == no_value) values.emplace(graph.values[id].name, id);
        for (std::string const& name : keep) {
            auto const found = name.empty() ? values.end() : values.find(name);
            if (found == values.end()) refuse(name, graph);
            if (std::ranges::find(names_, name) != names_.end()) continue;
            graph.outputs.push_back(found->second);
            add(graph, found->second);
        }
    }

    /// Gives the outputs their names again. A constant without a name becomes an output itself; what has become an input, a weight or
    /// another output gets an Identity.
    void restore(graph_data& graph) const {
        std::unordered_set<std::string_view> const taken(names_.begin(), names_.end());
        std::unordered_set<value_id> seen;
        for (std::size_t i = 0; i != names_.size(); ++i) {
            value_id& id = graph.outputs[i];
            graph_value const& v = graph.values[id];
            bool const is_itself = is_made_[i] == 0 && v.name == names_[i];
            bool const is_new = v.initializer >= 0 && (v.name.empty() || v.name == names_[i]);
            if ((v.producer < 0 && !is_itself && !is_new) || seen.contains(id)) {
                graph_node copy;
                copy.op = "Identity";
                copy.inputs = {id};
                id = graph.add_value(value_type(v.type));
                copy.outputs = {id};
                graph.values[id].producer = static_cast<std::int64_t>(graph.nodes.size());
                graph.nodes.push_back(std::move(copy));
            }
            seen.insert(id);
        }
        std::unordered_set<value_id> const inputs(graph.inputs.begin(), graph.inputs.end());
        for (value_id id = 0; id != graph.values.size(); ++id)
            if (!seen.contains(id) && !inputs.contains(id) && taken.contains(graph.values[id].name))
                graph.values[id].name.clear();
        for (std::size_t i = 0; i != names_.size(); ++i) graph.values[graph.outputs[i]].name = names_[i];
    }

private:
    void add(graph_data const& graph, value_id id) {
        names_.push_back(graph.values[id].name);
        is_made_.push_back(graph.values[id].producer >= 0 ? 1 : 0);
    }

    [[noreturn]] static void refuse(std::string const& name, graph_data const& graph) {
        nearest near(name);
        for (graph_value const& v : graph.values) near.offer(v.name);
        throw error("the main graph has no value '" + name + "' to keep" +
                    (near.found().empty() ? "" : "; did you mean '" + std::string(near.found()) + "'?"));
    }

    std::vector<std::string> names_;
    std::vector<char> is_made_; ///< by a node
};

/// The first fault of a graph by ONNX's schemas; empty: there is none.
std::string fault_of(graph_data const& graph) {
    try {
        require_legal(graph);
    } catch (error const& e) {
        return e.what();
    }
    return {};
}

class optimizer {
public:
    optimizer(optimize_options const& options, std::vector<pass_step>& steps) : options_(options) {
        export_options for_rewrites;
        for_rewrites.target = options.target;
        for_rewrites.without_rewrites = options.without_rewrites;
        rewrites_ = exporter::select_rewrites(for_rewrites);
        trace_.step = [&steps](pass_step const& step) {
            if (!step.subject.empty()) steps.push_back(step);
        };
    }

    /// Changes the graph until nothing changes.
    void run(graph_data& graph, std::deque<stored_tensor>& weights) {
        constexpr int max_rounds = 8;
        named_outputs const outputs(graph, options_.keep);
        std::string before;
        for (int round = 0; round != max_rounds; ++round) {
            pass(graph, weights, rewrites_.first);
            if (!rewrites_.last.empty()) pass(graph, weights, rewrites_.last);
            outputs.restore(graph);
            order_canonically(graph);
            std::string now = to_string(graph);
            if (now == before) return;
            before = std::move(now);
        }
    }

private:
    void pass(graph_data& graph, std::deque<stored_tensor>& weights, std::span<rewrite_entry const> rewrites) {
        bool const is_for_onnxruntime = options_.target != nullptr && options_.target->has_onnxruntime_kernels;
        optimize(graph,
                 weights,
                 {.rewrite_weights = options_.weights != weight_mode::reference,
                  .rewrites = rewrites,
                  .avoid_runtime_faults = is_for_onnxruntime,
                  .trace = &trace_});
    }

    optimize_options const& options_;
    exporter::selected_rewrites rewrites_;
    pass_trace trace_;
};

std::uint64_t size_of(std::string const& path) {
    std::error_code ignored;
    std::uint64_t const size = std::filesystem::file_size(path, ignored);
    return ignored ? 0 : size;
}

} // namespace

optimize_report optimize_file(std::string const& from, std::string const& to, optimize_options const& options) {
    optimize_report report;
    kept_model m(from);
    report.nodes_before = report.nodes_after = m.node_count();
    report.bytes_before = report.bytes_after = m.byte_count();
    report.unchanged = m.why_fixed;
    std::deque<stored_tensor> weights;
    graph_data graph = m.graph;
    if (report.unchanged.empty()) {
        bool const was_legal = fault_of(graph).empty();
        try {
            optimizer(options, report.steps).run(graph, weights);
        } catch (error const& e) {
            throw error(from + ": " + e.what());
        }
        if (std::string const fault = was_legal ? fault_of(graph) : std::string(); !fault.empty())
            report.unchanged = "the optimized graph would not be valid: " + fault;
    }
    if (!report.unchanged.empty()) {
        report.steps.clear();
        m.copy(to);
        return report;
    }
    if (options.target != nullptr) exporter::require_target(graph, *options.target, from);
    bool const has_data_files = !m.data_files().empty();
    weight_options to_write;
    to_write.mode = options.weights.value_or(has_data_files ? weight_mode::external : weight_mode::embed);
    to_write.sources = m.data_files();
    report.nodes_after = count_nodes(graph);
    m.write(std::move(graph), to, to_write);
    report.bytes_after = size_of(to);
    if (to_write.mode != weight_mode::embed) report.bytes_after += size_of(to + ".data");
    return report;
}

} // namespace ATON_NAMESPACE
