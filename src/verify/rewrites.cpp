// SPDX-License-Identifier: MIT
#include <aton/verify/rewrites.hpp>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/ir/print.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/passes/passes.hpp>
#include <aton/passes/patterns.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

constexpr std::string_view prefix = "rewrite::";

std::string_view type_of(capture_kind k) {
    switch (k) {
    case capture_kind::value:
    case capture_kind::constant: return "Tensor";
    case capture_kind::number: return "Scalar";
    case capture_kind::real: return "float";
    case capture_kind::integer: return "int";
    case capture_kind::integers: return "int[]";
    case capture_kind::text: return "str";
    case capture_kind::type: return "ScalarType";
    }
    return {};
}

/// "rewrite::swish(Tensor x0) -> Tensor"
std::string schema_of(rewrite_entry const& r) {
    std::string s = std::string(prefix).append(r.name) + '(';
    for (std::size_t i = 0; i != r.pattern.captures.size(); ++i)
        s.append(i == 0 ? "" : ", ").append(type_of(r.pattern.captures[i])).append(" x").append(std::to_string(i));
    return s + ") -> Tensor";
}

/// What is captured, without tensors, from an argument of a call.
template <class Argument>
captured captured_of(Argument const& a) {
    captured c;
    if (a.kind == aten::argument_kind::number) {
        if constexpr (requires { a.number.constant(); }) c.number = a.number.constant();
        else c.number = a.number;
    }
    for (auto const& n : a.numbers) {
        if constexpr (requires { n.constant(); }) c.integers.push_back(n.constant().template to<std::int64_t>());
        else c.integers.push_back(n.template to<std::int64_t>());
    }
    c.text = a.text;
    c.type = a.type;
    return c;
}

/// Builds the pattern in the graph of the call, and applies the rewrite to it. The variant is any, but always the same for a graph.
void run_row(dsl::invocation& in) {
    rewrite_entry const& rewrite = *static_cast<rewrite_entry const*>(in.row->foreign);
    std::vector<captured> captures;
    std::deque<aton::tensor> constants;
    std::size_t choice = 0;
    for (dsl::bound_argument const& a : in.arguments) {
        captured& c = captures.emplace_back(captured_of(a));
        if (a.kind != aten::argument_kind::tensor) continue;
        c.value = a.tensor->id();
        for (dim const& d : a.tensor->shape().dims())
            choice = choice * 31 + static_cast<std::size_t>(d.is_static() ? d.size() : 0);
    }
    std::vector<pattern_variant> const variants = variants_of(rewrite.pattern);
    graph_data& graph = in.graph;
    graph.outputs = {instantiate(graph, rewrite.pattern, variants[choice % variants.size()], captures)};
    graph_data plain = graph;
    std::deque<stored_tensor> weights;
    optimize(plain, weights, {.avoid_runtime_faults = false});
    optimize(graph, weights, {.rewrites = std::span(&rewrite, 1), .avoid_runtime_faults = false});
    if (to_string(plain) == to_string(graph)) throw unsupported_error("the rewrite does not apply");
    dsl::result& out = in.results.emplace_back();
    out.single = dsl::value(graph, graph.outputs[0]);
    graph.outputs.clear();
}

/// What the pattern computes for a call.
runtime::aten_results run_pattern(rewrite_entry const& rewrite, sample const& s, runtime::device where) {
    graph_data graph;
    graph.opset = std::min(rewrite.until, onnx::newest_version(""));
    std::vector<captured> captures;
    std::vector<runtime::value> inputs;
    for (runtime::aten_argument const& a : s.arguments) {
        captured& c = captures.emplace_back(captured_of(a));
        if (a.kind != aten::argument_kind::tensor) continue;
        c.value =
            graph.add_input('x' + std::to_string(inputs.size()), value_type{a.tensor.dtype(), shape(a.tensor.sizes())});
        inputs.emplace_back(to_device(a.tensor, where));
    }
    graph.outputs = {instantiate(graph, rewrite.pattern, variants_of(rewrite.pattern).front(), captures)};
    return {runtime::onnx_model(std::move(graph), {where, 0}).run(inputs), {}};
}

} // namespace

rewrite_rows::rewrite_rows(std::span<rewrite_entry const> rewrites, bool with_conditions)
    : rewrites_(rewrites.begin(), rewrites.end()) {
    std::size_t max_captures = 0;
    for (rewrite_entry const& r : rewrites_) max_captures = std::max(max_captures, r.pattern.captures.size());
    positions_.resize(max_captures);
    std::iota(positions_.begin(), positions_.end(), std::uint8_t{0});
    for (rewrite_entry& r : rewrites_) {
        if (!with_conditions) r.holds = nullptr;
        std::string const& schema = schemas_.emplace_back(schema_of(r));
        dsl::entry e;
        e.schema = schema;
        e.overload = e.schema.substr(0, schema.find('('));
        e.since = r.since;
        e.until = r.until;
        e.named = {positions_.data(), r.pattern.captures.size()};
        e.run = &run_row;
        e.hash = hash_of(e.overload);
        e.foreign = &r;
        rows_.push_back(e);
    }
}

check_options rewrite_rows::options(check_options from) const {
    from.rules = rewrite_sampling_rules();
    from.truth = [this, where = from.where](sample const& s) {
        auto const row =
            std::find_if(rows_.begin(), rows_.end(), [&](dsl::entry const& e) { return e.overload == s.overload; });
        if (row == rows_.end()) throw error("no rewrite has the name " + s.overload);
        return run_pattern(*static_cast<rewrite_entry const*>(row->foreign), s, where);
    };
    return from;
}

condition_report check_conditions(std::span<rewrite_entry const> rewrites, check_options const& options) {
    std::vector<rewrite_entry> with_condition;
    for (rewrite_entry const& r : rewrites)
        if (r.holds != nullptr) with_condition.push_back(r);
    rewrite_rows const rows(with_condition, false);
    condition_report out;
    for (row_report const& r : check(rows.rows(), rows.options(options)).rows) {
        if (r.total(&type_report::different) != 0) ++out.needed;
        else out.survivors.push_back(r.overload.substr(prefix.size()));
    }
    return out;
}

double condition_report::power() const noexcept {
    auto const all = static_cast<double>(needed) + static_cast<double>(survivors.size());
    return all == 0 ? 100 : 100 * needed / all;
}

std::string condition_report::to_text() const {
    std::string s = std::to_string(needed) + " of " +
                    std::to_string(static_cast<std::size_t>(needed) + survivors.size()) +
                    " conditions are needed by some call";
    for (std::size_t i = 0; i != survivors.size(); ++i) s += (i == 0 ? "; not those of " : ", ") + survivors[i];
    return s + '\n';
}

} // namespace ATON_NAMESPACE::verify
