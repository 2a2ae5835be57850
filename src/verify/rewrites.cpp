// SPDX-License-Identifier: MIT
#include <aton/verify/rewrites.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/ir/print.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/passes/passes.hpp>
#include <aton/passes/patterns.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

/// What replaces ATen calls, if the condition holds.
void run_replacement(dsl::invocation& in, rewrite_entry const& rewrite, std::span<captured const> captures) {
    if (rewrite.holds != nullptr && !rewrite.holds(in.graph, in.opset, captures))
        throw unsupported_error("the rewrite does not apply");
    value_id result = no_value;
    rewrite.build(in.graph, in.opset, captures, std::span(&result, 1));
    in.results.emplace_back().single = dsl::value(in.graph, result);
}

/// Builds the pattern in the graph of the call, and applies the rewrite to it. The variant is any, but always the same for a graph.
void run_row(dsl::invocation& in) {
    rewrite_entry const& rewrite = *static_cast<rewrite_entry const*>(in.row->foreign);
    std::vector<captured> const captures = dsl::detail::captures_of(in);
    if (rewrite.pattern.is_of_calls()) return run_replacement(in, rewrite, captures);
    std::size_t choice = 0;
    for (dsl::bound_argument const& a : in.arguments)
        if (a.kind == aten::argument_kind::tensor)
            for (dim const& d : a.tensor->shape().dims())
                choice = choice * 31 + static_cast<std::size_t>(d.is_static() ? d.size() : 0);
    std::vector<pattern_variant> const variants = variants_of(rewrite.pattern);
    graph_data& graph = in.graph;
    graph.outputs = instantiate(graph, rewrite.pattern, variants[choice % variants.size()], captures);
    graph_data plain = graph;
    std::deque<stored_tensor> weights;
    optimize(plain, weights, {.avoid_runtime_faults = false});
    optimize(graph, weights, {.rewrites = std::span(&rewrite, 1), .avoid_runtime_faults = false});
    if (to_string(plain) == to_string(graph)) throw unsupported_error("the rewrite does not apply");
    for (value_id id : graph.outputs) in.results.emplace_back().single = dsl::value(graph, id);
    graph.outputs.clear();
}

/// Runs the ATen calls of a pattern.
class called_pattern {
public:
    called_pattern(pattern_view const& p, sample const& s, runtime::device where)
        : p_(p),
          variant_(variant_for(p, s)),
          arguments_(s.arguments),
          where_(where),
          results_(p.nodes.size()) {}

    [[nodiscard]] runtime::value result() { return argument_at(p_.terms.size()).tensor; }

private:
    /// Any variant, but always the same for the sizes of a call.
    static pattern_variant variant_for(pattern_view const& p, sample const& s) {
        std::vector<pattern_variant> all = variants_of(p);
        std::size_t choice = 0;
        for (runtime::aten_argument const& a : s.arguments)
            if (a.kind == aten::argument_kind::tensor)
                for (std::int64_t n : a.tensor.sizes()) choice = choice * 31 + static_cast<std::size_t>(n);
        return std::move(all[choice % all.size()]);
    }
    /// The argument that a term is; missing for what a pattern leaves open.
    runtime::aten_argument argument_at(std::size_t at) {
        using enum pattern_term::kind;
        using argument = runtime::aten_argument;
        pattern_term const& t = term_at(p_, at);
        auto const index = static_cast<std::size_t>(t.index);
        auto const count = static_cast<std::size_t>(t.count);
        switch (t.what) {
        case absent: return argument::none();
        case by_default:
        case anything: return {};
        case capture:
            if (index >= arguments_.size()) throw error("capture " + std::to_string(index + 1) + " is missing");
            return arguments_[index];
        case number: return argument::of_number(number_of(t.number));
        case integers: {
            std::vector<scalar> all;
            for (std::int64_t each : p_.integers.subspan(index, count)) all.emplace_back(each);
            return argument::of_numbers(std::move(all));
        }
        case text: return argument::of_text(std::string(p_.text.substr(index, count)));
        case type: return argument::of_type(static_cast<dtype>(t.index));
        case either: return argument_at(index + variant_.chosen[at]);
        case list: {
            std::vector<runtime::tensor> all;
            for (std::size_t i = 0; i != count; ++i) all.push_back(argument_at(index + i).tensor);
            return argument::of_tensors(std::move(all));
        }
        case node: break;
        }
        std::vector<runtime::tensor> const& all = results_of(index);
        if (t.output >= all.size()) throw error("a call of the pattern has too few results");
        return argument::of_tensor(all[t.output]);
    }
    /// A number that is written without a point is an integer.
    static scalar number_of(double n) {
        bool const is_whole = std::abs(n) < 0x1p53 && std::trunc(n) == n;
        return is_whole ? scalar(static_cast<std::int64_t>(n)) : scalar(n);
    }
    std::vector<runtime::tensor> const& results_of(std::size_t index) {
        if (results_[index].has_value()) return *results_[index];
        pattern_node const& n = p_.nodes[index];
        std::vector<runtime::aten_argument> arguments;
        aten::argument_cursor formals(n.schema);
        aten::schema_argument formal;
        for (std::size_t i = 0; formals.next(formal); ++i) {
            bool const exchanged = i < 2 && n.commutes && variant_.swapped[index] != 0;
            runtime::aten_argument a = argument_at(static_cast<std::size_t>(n.first_operand) + (exchanged ? 1 - i : i));
            bool const is_open = a.kind == aten::argument_kind::missing && !formal.has_default;
            if (is_open && !formal.type.list) a = runtime::aten_argument::of_number(0); // a number that does not matter
            if (a.kind != aten::argument_kind::missing)
                arguments.push_back(std::move(a).named(std::string(formal.name)));
        }
        std::vector<runtime::tensor>& out = results_[index].emplace();
        for (runtime::value const& v : runtime::call_aten(n.op, std::move(arguments), {where_, 0}).results) {
            if (v.is_sequence()) out.insert(out.end(), v.many().begin(), v.many().end());
            else out.push_back(v.one());
        }
        return out;
    }

    pattern_view const& p_;
    pattern_variant variant_;
    std::vector<runtime::aten_argument> const& arguments_;
    runtime::device where_;
    std::vector<std::optional<std::vector<runtime::tensor>>> results_; // by node of the pattern
};

/// What the pattern computes for a call.
runtime::aten_results run_pattern(rewrite_entry const& rewrite, sample const& s, runtime::device where) {
    if (rewrite.pattern.is_of_calls()) return {{called_pattern(rewrite.pattern, s, where).result()}, {}};
    graph_data graph;
    graph.opset = std::min(rewrite.until, onnx::newest_version(""));
    std::vector<captured> captures;
    std::vector<runtime::value> inputs;
    for (runtime::aten_argument const& a : s.arguments) {
        captured& c = captures.emplace_back(dsl::detail::captured_of(a));
        if (a.kind != aten::argument_kind::tensor) continue;
        c.value =
            graph.add_input('x' + std::to_string(inputs.size()), value_type{a.tensor.dtype(), shape(a.tensor.sizes())});
        inputs.emplace_back(to_device(a.tensor, where));
    }
    graph.outputs = instantiate(graph, rewrite.pattern, variants_of(rewrite.pattern).front(), captures);
    return {runtime::onnx_model(std::move(graph), {where, 0}).run(inputs), {}};
}

} // namespace

rewrite_rows::rewrite_rows(std::span<rewrite_entry const> rewrites, bool with_conditions)
    : rewrites_(rewrites.begin(), rewrites.end()) {
    for (rewrite_entry& r : rewrites_) {
        if (!with_conditions) r.holds = nullptr;
        rows_.add(r, &run_row);
    }
}

check_options rewrite_rows::options(check_options from) const {
    from.rules = rewrite_sampling_rules();
    from.truth = [this, where = from.where](sample const& s) {
        dsl::table_view const all = rows();
        auto const row =
            std::find_if(all.begin(), all.end(), [&](dsl::entry const& e) { return e.overload == s.overload; });
        if (row == all.end()) throw error("no rewrite has the name " + s.overload);
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
        else out.survivors.push_back(r.overload.substr(dsl::detail::rewrite_prefix.size()));
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
