// SPDX-License-Identifier: MIT
// IR versions of opsets and element types. Follows VERSION_TABLE in onnx/helper.py 1.23.2.
#include "model_needs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "graph_writer.hpp"

#include <aton/core/stored_tensor.hpp>

namespace ATON_NAMESPACE::detail {

namespace {

struct version_row {
    std::string_view domain;
    int opset;
    int ir;
};

// The first IR version of an ONNX release that has the opset, one row per change.
constexpr version_row version_table[] = {
    {"", 1, 3},
    {"", 9, 4},
    {"", 10, 5},
    {"", 11, 6},
    {"", 12, 7},
    {"", 15, 8},
    {"", 19, 9},
    {"", 21, 10},
    {"", 23, 11},
    {"", 24, 12},
    {"", 25, 13},
    {"", 28, 14},
    {"ai.onnx.ml", 2, 6},
    {"ai.onnx.ml", 3, 8},
    {"ai.onnx.ml", 4, 9},
    {"ai.onnx.ml", 5, 10},
    {"ai.onnx.training", 1, 7},
    {"ai.onnx.preview.training", 1, 7},
};

int ir_for(std::string_view domain, int opset) {
    int ir = 3;
    for (version_row const& row : version_table)
        if (row.domain == domain && row.opset <= opset) ir = std::max(ir, row.ir);
    return ir;
}

/// The IR version that introduced an element type.
int ir_for(dtype t) {
    switch (t) {
    case dtype::bfloat16: return 4;
    case dtype::float8_e4m3fn:
    case dtype::float8_e4m3fnuz:
    case dtype::float8_e5m2:
    case dtype::float8_e5m2fnuz: return 9;
    case dtype::uint4:
    case dtype::int4: return 10;
    case dtype::float4_e2m1: return 11;
    case dtype::float8_e8m0: return 12;
    case dtype::uint2:
    case dtype::int2: return 13;
    default: return 3;
    }
}

class collector {
public:
    explicit collector(model_needs& needs) : needs_(needs) {}

    void collect(graph_data const& g, bool is_nested = false) {
        // Before IR 4, every initializer is also an input, which a nested graph cannot have. Opset 9 came with IR 4.
        if (!g.initializers.empty() && (g.opset >= 9 || is_nested)) raise(4);
        for (graph_initializer const& i : g.initializers)
            raise(ir_for(i.stored != nullptr ? i.stored->type : i.data.type));
        for (graph_value const& v : g.values) raise(ir_for(v.type.dtype));
        for (graph_node const& n : g.nodes) {
            import(g, plain_domain(n.domain));
            if (!n.overload.empty()) raise(10);
            for (node_attribute const& a : n.attributes) collect(a);
        }
    }

    void collect_functions(graph_data const& g) {
        for (graph_function const& f : g.functions) {
            raise(f.overload.empty() ? f.defaults.empty() ? 8 : 9 : 10);
            for (node_attribute const& a : f.defaults) collect(a);
            import(g, plain_domain(f.domain));
            for (graph_data const& body : f.body) {
                collect(body);
                raise(ir_for("", body.opset));
            }
        }
    }

private:
    void collect(node_attribute const& a) {
        for (tensor const& t : a.tensors) raise(ir_for(t.type));
        for (graph_data const& nested : a.graphs) collect(nested, true);
    }

    void raise(int ir) { needs_.ir = std::max(needs_.ir, ir); }

    void import(graph_data const& g, std::string_view domain) {
        if (domain.empty()) return;
        int version = 1;
        for (auto const& [name, v] : g.opset_imports)
            if (name == domain) version = v;
        for (auto& [name, v] : needs_.domains)
            if (name == domain) return void(v = std::max(v, version));
        needs_.domains.emplace_back(domain, version);
    }

    model_needs& needs_;
};

/// The call graph of the functions.
class call_graph {
public:
    explicit call_graph(graph_data const& g) : functions_(g.functions), seen_(g.functions.size(), state::unseen) {
        for (std::size_t i = 0; i != functions_.size(); ++i) {
            graph_function const& f = functions_[i];
            if (!index_.emplace(key(f.domain, f.name, f.overload), i).second)
                refuse("function " + full_name(f.domain, f.name, f.overload) + " is defined twice");
        }
    }

    void require_no_cycle() {
        for (std::size_t i = 0; i != functions_.size(); ++i) visit(i);
    }

private:
    enum class state : std::uint8_t { unseen, open, done };
    static constexpr std::size_t max_depth = 1000;

    static std::string key(std::string_view domain, std::string_view name, std::string_view overload) {
        std::string out(plain_domain(domain));
        for (std::string_view part : {name, overload}) (out += '\n') += part;
        return out;
    }

    void visit(std::size_t i) {
        if (seen_[i] == state::done) return;
        graph_function const& f = functions_[i];
        if (++depth_ > max_depth)
            refuse("function " + full_name(f.domain, f.name, f.overload) + " is called through more than " +
                   std::to_string(max_depth) + " others");
        if (seen_[i] == state::open)
            refuse("function " + full_name(f.domain, f.name, f.overload) + " calls itself, which ONNX does not allow");
        seen_[i] = state::open;
        for (graph_data const& body : f.body) visit_calls(body);
        seen_[i] = state::done;
        --depth_;
    }
    void visit_calls(graph_data const& g) {
        for (graph_node const& n : g.nodes) {
            if (auto const called = index_.find(key(n.domain, n.op, n.overload)); called != index_.end())
                visit(called->second);
            for (node_attribute const& a : n.attributes)
                for (graph_data const& nested : a.graphs) visit_calls(nested);
        }
    }

    std::vector<graph_function> const& functions_;
    std::unordered_map<std::string, std::size_t> index_;
    std::vector<state> seen_;
    std::size_t depth_ = 0;
};

} // namespace

void require_callable_functions(graph_data const& graph) {
    if (!graph.functions.empty()) call_graph(graph).require_no_cycle();
}

std::string full_name(std::string_view domain, std::string_view name, std::string_view overload) {
    std::string out(domain.empty() ? "onnx" : domain);
    (out += "::") += name;
    if (!overload.empty()) (out += '.') += overload;
    return out;
}

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

model_needs needs_of(graph_data const& graph) {
    model_needs needs;
    collector c(needs);
    c.collect(graph);
    c.collect_functions(graph);
    for (auto const& [domain, version] : needs.domains) needs.ir = std::max(needs.ir, ir_for(domain, version));
    needs.ir = std::max(needs.ir, ir_for("", graph.opset));
    return needs;
}

} // namespace ATON_NAMESPACE::detail
