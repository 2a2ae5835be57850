// SPDX-License-Identifier: MIT
// Runs two graphs on the same inputs, and compares the values that they have in common.
#include <aton/verify/model_pairs.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/core/json_writer.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/comparison.hpp>

#include "graph_inputs.hpp"
#include "narrowest_results.hpp"
#include "node_search.hpp"
#include "report_text.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::value;

/// For each of `wanted`, the position of its name in `names`; all by position, unless every name is there.
std::vector<std::size_t> positions_of(std::vector<std::string> const& wanted, std::vector<std::string> const& names,
                                      std::string const& what, std::string const& first, std::string const& second) {
    if (wanted.size() != names.size())
        throw error(second + " has " + std::to_string(wanted.size()) + ' ' + what + ", but " + first + " has " +
                    std::to_string(names.size()));
    std::vector<std::size_t> out;
    for (std::string const& each : wanted) {
        auto const found = std::ranges::find(names, each);
        if (found == names.end()) break;
        out.push_back(static_cast<std::size_t>(found - names.begin()));
    }
    if (out.size() == wanted.size()) return out;
    out.clear();
    for (std::size_t i = 0; i != wanted.size(); ++i) out.push_back(i);
    return out;
}

std::vector<std::string> names_of(std::vector<part_value> const& all) {
    std::vector<std::string> out;
    for (part_value const& each : all) out.push_back(each.name);
    return out;
}

/// The nodes that compute values, as indices.
using producer_map = std::unordered_map<std::string, std::size_t>;

producer_map producers_of(std::vector<model_node> const& nodes) {
    producer_map out;
    for (std::size_t i = 0; i != nodes.size(); ++i)
        for (std::string const& value : nodes[i].outputs) out.emplace(value, i);
    return out;
}
std::size_t node_of(producer_map const& nodes, std::string const& value) {
    auto const found = nodes.find(value);
    return found == nodes.end() ? std::string::npos : found->second; // npos + 1 is 0, no node
}

class pair_check {
public:
    pair_check(model_parts const& first, model_parts const& second, pair_options const& options)
        : options_(options),
          first_(first),
          second_(second),
          a_(parse_model(first.whole(), first.path()).graph, {options.where, options.seed}),
          b_(parse_model(second.whole(), second.path()).graph, {options.where, options.seed}),
          inputs_(
              positions_of(names_of(second.inputs()), names_of(first.inputs()), "inputs", first.path(), second.path())),
          outputs_(positions_of(first.outputs(), second.outputs(), "outputs", second.path(), first.path())),
          terms_(1000 + 100 * static_cast<std::int64_t>(first.nodes().size())) {}

    pair_report run() {
        auto const sets = static_cast<std::size_t>(options_.inputs.empty() ? options_.samples : 1);
        for (std::size_t i = 0; i != sets && report_.passed(); ++i) {
            if (options_.progress) options_.progress(i, sets);
            check(options_.seed + i);
        }
        return std::move(report_);
    }

private:
    void check(std::uint64_t seed) {
        accepted_run const right = run_accepted(
            a_, first_, options_.inputs, seed, [this](graph_node const& n, std::span<value const> results) {
                narrowest_.note(n, results);
            });
        std::vector<value> const& expected = right.outputs;
        std::vector<value> for_second;
        for (std::size_t const i : inputs_) for_second.push_back(right.inputs.at(i));
        std::vector<value> const first_inputs = in_graph_order(a_.graph(), first_.inputs(), right.inputs);
        std::vector<value> const second_inputs = in_graph_order(b_.graph(), second_.inputs(), for_second);
        ++report_.samples;
        std::vector<value> got;
        try {
            got = b_.run(second_inputs);
        } catch (error const& e) {
            return differs(second_.path() + " does not run: " + e.what(), first_inputs, second_inputs, 0);
        }
        for (std::size_t i = 0; i != expected.size(); ++i) {
            std::string const& name = first_.outputs().at(i);
            if (report_.outputs.size() == i) report_.outputs.push_back({name});
            comparison const c =
                compare(got.at(outputs_.at(i)), expected[i], terms_, narrowest_.of(a_.graph().outputs[i]));
            report_.outputs[i].elements += c.elements;
            report_.outputs[i].worst_error = std::max(report_.outputs[i].worst_error, c.error);
            if (!c.same() && report_.passed())
                differs("output '" + name + "': " + to_string(c), first_inputs, second_inputs, i);
        }
    }

    void differs(std::string why, std::vector<value> const& first_inputs, std::vector<value> const& second_inputs,
                 std::size_t output) {
        report_.difference = std::move(why);
        graph_results const second(b_, second_inputs);
        node_search search(second, terms_);
        graph_data const& g = a_.graph();
        (void)a_.run(first_inputs, [&](graph_node const& n, std::span<value const> results) {
            std::vector<std::size_t> operands;
            for (value_id const v : runtime::uses_of(n)) operands.push_back(v);
            search.add(operands);
            for (std::size_t i = 0; i != results.size() && i != n.outputs.size(); ++i) {
                if (n.outputs[i] == no_value) continue;
                if (!results[i].is_tensor()) search.skip(n.outputs[i]);
                else
                    search.judge(
                        n.outputs[i], g.values[n.outputs[i]].name, results[i].one(), narrowest_.of(n.outputs[i]));
            }
        });
        for (judged_node const& n : search.nodes())
            if (!n.value.empty())
                report_.values.push_back({n.value, node_of(first_nodes_, n.value) + 1, n.is, n.error});
        if (g.outputs.empty()) return;
        std::size_t const wanted[] = {g.outputs.at(output)};
        auto const found = search.first(wanted, true);
        if (!found) return;
        report_.differs = value_at(search.nodes()[*found]);
        for (std::size_t const i : search.same_before(*found)) report_.same_before.push_back(search.nodes()[i].value);
        auto const inexact = search.first_inexact();
        if (inexact && *inexact < *found) report_.starts = value_at(search.nodes()[*inexact]);
    }

    [[nodiscard]] first_value value_at(judged_node const& n) const {
        first_value out{n.value, n.why, {}, {}};
        out.first = place_of(first_.nodes(), node_of(first_nodes_, n.value));
        if (n.namesake != nullptr) out.second = place_of(second_.nodes(), node_of(second_nodes_, n.value));
        return out;
    }

    pair_options const& options_;
    model_parts const& first_;
    model_parts const& second_;
    runtime::onnx_model a_;
    runtime::onnx_model b_;
    std::vector<std::size_t> inputs_;  ///< of each input of the second model, the position in the first
    std::vector<std::size_t> outputs_; ///< of each output of the first model, the position in the second
    std::int64_t terms_;
    narrowest_results narrowest_; ///< of the first model
    producer_map first_nodes_ = producers_of(first_.nodes());
    producer_map second_nodes_ = producers_of(second_.nodes());
    pair_report report_;
};

void write(json_writer& out, std::string const& name, first_value const& v) {
    out.name(name).begin_object().field("value", v.name).field("why", v.why);
    for (auto const& [side, place] :
         {std::pair<char const*, node_place const&>{"first", v.first}, {"second", v.second}}) {
        out.name(side);
        if (place.position == 0) out.null();
        else
            out.begin_object()
                .field("position", place.position)
                .field("op", place.op)
                .field("name", place.name)
                .end_object();
    }
    out.end_object();
}

} // namespace

node_place place_of(std::span<model_node const> nodes, std::size_t node) {
    if (node >= nodes.size()) return {};
    return {node + 1, nodes[node].op, nodes[node].name, describe(nodes, node)};
}

pair_report compare_pair(model_parts const& first, model_parts const& second, pair_options const& options) {
    return pair_check(first, second, options).run();
}

std::string pair_report::to_text(std::string const& first, std::string const& second) const {
    std::string out = text_of(outputs);
    if (passed()) return out + same_on(samples);
    out += on_one_line(difference) + '\n';
    if (differs.name.empty()) return out + "no value before it differs\n";
    out += "the first differing value: " + on_one_line(differs.name) + "\n    in " + first + ": " + differs.first.text +
           '\n';
    if (differs.second.position != 0)
        out += "    in " + second + ": " + differs.second.text + ": " + differs.why + '\n';
    else out += "    " + second + " has no such value" + (differs.why.empty() ? "" : ": " + differs.why) + '\n';
    if (!starts.name.empty())
        out += "    its numbers come from " + on_one_line(starts.name) +
               ", which differs less than the tolerance: " + starts.first.text + '\n';
    if (!same_before.empty()) {
        out += "    same up to:";
        for (std::string const& name : same_before) out += ' ' + on_one_line(name);
        out += '\n';
    }
    return out;
}

std::string pair_report::to_json() const {
    json_writer out;
    out.begin_object().field("passed", passed()).field("samples", samples);
    write_outputs(out, outputs);
    out.field("difference", difference);
    write(out, "differs", differs);
    write(out, "starts", starts);
    out.name("same_before").array(same_before);
    out.name("values").array(values, [&](value_report const& v) {
        out.begin_object().field("value", v.name).field("position", v.position);
        out.field("verdict", text_of(v.verdict)).name("worst_error").value(v.worst_error, shown_digits).end_object();
    });
    out.end_object();
    return out.text() + '\n';
}

} // namespace ATON_NAMESPACE::verify
