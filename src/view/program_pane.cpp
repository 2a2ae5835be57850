// SPDX-License-Identifier: MIT
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/program/subgraphs.hpp>
#include <aton/program/text_writer.hpp>

#include "pane.hpp"

namespace ATON_NAMESPACE::view {

namespace {

constexpr std::size_t max_program_text = 300; ///< bytes of a text of the program

class program_reader {
public:
    program_reader(program::program const& p, std::vector<unconvertible> const& refused)
        : p_(p),
          text_(p),
          seen_(p.subgraphs.size()) {
        for (unconvertible const& op : refused)
            for (refused_call const& call : op.calls)
                if (call.result != program::no_value) reasons_.emplace(call.result, &call.reason);
                else reasons_of_names_.emplace(call.node, &call.reason);
    }

    pane read() {
        out_.kind = "program";
        out_.values.reserve(p_.values.size());
        for (std::size_t v = 0; v != p_.values.size(); ++v) {
            text_.type(static_cast<program::value_index>(v));
            out_.values.push_back(
                {clipped(p_.values[v].name, max_program_text), clipped(text_.take(), max_program_text), {}});
        }
        add_graph({}, -1, p_.main);
        for (program::input const& in : p_.inputs) {
            if (in.value == program::no_value) continue;
            bool const is_given = in.kind == program::input_kind::user || in.kind == program::input_kind::baked;
            out_.values[in.value].role = is_given ? value_role::input : value_role::weight;
            if (!is_given && !in.target.empty()) out_.values[in.value].name = clipped(in.target, max_program_text);
        }
        while (!pending_.empty()) {
            nested const each = pending_.front();
            pending_.pop_front();
            add_graph(each.label, each.owner, p_.subgraphs[each.graph]);
        }
        return std::move(out_);
    }

private:
    struct nested {
        std::string label;
        index owner = -1;
        std::size_t graph = 0;
    };

    static index index_of(program::value_index v) { return v == program::no_value ? -1 : static_cast<index>(v); }

    void add_graph(std::string const& label, index owner, program::graph const& g) {
        auto const number = static_cast<index>(out_.graphs.size());
        pane_graph& to = out_.graphs.emplace_back(pane_graph{label, owner, {}, {}});
        for (program::value_index const v : g.inputs) {
            if (v == program::no_value) continue;
            to.inputs.push_back(index_of(v));
            out_.values[v].role = value_role::input;
        }
        for (std::size_t i = 0; i != g.outputs.size(); ++i) {
            bool const has_key = owner < 0 && i < p_.outputs.size() && !p_.outputs[i].target.empty();
            program::for_each_value(g.outputs[i], [&](program::value_index v) {
                to.outputs.emplace_back(clipped(has_key ? p_.outputs[i].target : p_.values[v].name, max_program_text),
                                        index_of(v));
            });
        }
        for (program::node const& n : g.nodes) add_node(number, n);
    }

    void add_node(index graph, program::node const& n) {
        program::origin const& from = p_.origins[n.origin];
        auto const number = static_cast<index>(out_.nodes.size());
        pane_node to;
        to.graph = graph;
        to.op = clipped(n.op, max_program_text);
        to.name = clipped(n.name, max_program_text);
        to.module = from.module;
        to.module_type = from.module_type;
        to.source = from.source;
        to.code = from.code;
        for (program::argument const& a : n.arguments) {
            program::for_each_value(a, [&](program::value_index v) { to.inputs.push_back(index_of(v)); });
            text_.value_of(a);
            to.attributes.emplace_back(clipped(a.name, max_program_text), clipped(text_.take(), max_program_text));
            auto const inner = program::subgraph_of(p_, a);
            if (!inner || seen_[*inner]) continue;
            seen_[*inner] = true;
            pending_.push_back({clipped(a.name.empty() ? a.text : a.name, max_program_text), number, *inner});
        }
        for (program::value_index const v : result_values(n))
            if (v != program::no_value) to.results.push_back(index_of(v));
        to.refusal = refusal_of(n);
        out_.nodes.push_back(std::move(to));
    }

    [[nodiscard]] std::string refusal_of(program::node const& n) const {
        std::vector<program::value_index> const results = result_values(n);
        if (results.empty() || results.front() == program::no_value) {
            auto const found = reasons_of_names_.find(n.name);
            return found == reasons_of_names_.end() ? std::string() : *found->second;
        }
        auto const found = reasons_.find(results.front());
        return found == reasons_.end() ? std::string() : *found->second;
    }

    program::program const& p_;
    program::text_writer text_;
    std::vector<bool> seen_; ///< by index of the subgraph
    std::unordered_map<program::value_index, std::string const*> reasons_;
    std::unordered_map<std::string, std::string const*> reasons_of_names_;
    std::deque<nested> pending_; ///< graphs whose owners are in the pane
    pane out_;
};

} // namespace

pane pane_of(program::program const& p, std::vector<unconvertible> const& refused) {
    return program_reader(p, refused).read();
}

} // namespace ATON_NAMESPACE::view
