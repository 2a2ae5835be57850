// SPDX-License-Identifier: MIT
#include "declared_types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/onnx/registry.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

graph_function const* function_of(graph_data const& g, graph_node const& n) {
    auto const found = std::find_if(g.functions.begin(), g.functions.end(), [&](graph_function const& f) {
        return f.domain == n.domain && f.name == n.op && f.overload == n.overload;
    });
    return found == g.functions.end() ? nullptr : &*found;
}

/// The size that a symbol has in this call; -1 if it is not one of an input.
std::int64_t size_of(translation const& call, std::string_view symbol) {
    for (std::size_t i = 0; i != std::min(call.inputs.size(), call.graph.inputs.size()); ++i) {
        auto const& dims = call.graph.values[call.graph.inputs[i]].type.shape.dims();
        for (std::size_t k = 0; k != dims.size(); ++k)
            if (dims[k].is_symbolic() && dims[k].symbol() == symbol && call.inputs[i].is_tensor())
                return call.inputs[i].one().sizes()[k];
    }
    return -1;
}

/// The declared type as text if the tensor does not have it; empty if it does. Unknown sizes fit any.
std::string unmet(translation const& call, value_type const& declared, runtime::tensor const& x) {
    bool fits = declared.dtype == dtype::undefined || declared.dtype == x.dtype();
    std::string out(declared.dtype == dtype::undefined ? std::string_view("a tensor") : name(declared.dtype));
    if (declared.shape.has_rank()) {
        auto const& dims = declared.shape.dims();
        fits = fits && dims.size() == x.sizes().size();
        std::string sizes;
        for (std::size_t i = 0; i != dims.size(); ++i) {
            std::int64_t const size = dims[i].is_symbolic() ? size_of(call, dims[i].symbol()) : dims[i].size_or(-1);
            fits = fits && (size < 0 || size == x.sizes()[i]);
            sizes += (i == 0 ? "" : ", ") + (size < 0 ? std::string("?") : std::to_string(size));
        }
        out += '[' + sizes + ']';
    }
    return fits ? std::string() : out;
}

int version_of(graph_data const& g, std::string_view domain) {
    for (auto const& [known, version] : g.opset_imports)
        if (known == domain) return version;
    return domain.empty() ? g.opset : 1;
}

} // namespace

std::string declared_difference(translation const& call, graph_node const& n, std::span<runtime::value const> results,
                                bool stated) {
    graph_data const& g = call.graph;
    graph_function const* const f = function_of(g, n);
    if (f == nullptr && !stated) return {};
    for (std::size_t i = 0; i != results.size(); ++i) {
        if (n.outputs[i] == no_value || !results[i].is_tensor() || !results[i].one()) continue;
        value_type const& declared = g.values[n.outputs[i]].type;
        if (declared.kind != value_kind::tensor) continue;
        std::string const given = unmet(call, declared, results[i].one());
        if (given.empty()) continue;
        std::string const got =
            std::string(name(results[i].one().dtype())) + runtime::to_string(results[i].one().sizes());
        if (f == nullptr)
            return (n.domain.empty() ? "onnx" : n.domain) + "::" + n.op + ": its result is stated as " + given +
                   ", but it is " + got + "; correct set_type() or set_shape() in the row";
        graph_data const& body = f->body.at(0);
        return n.domain + "::" + n.op + ": the output " + body.values[body.outputs.at(i)].name + " is declared as " +
               given + ", but its body computes " + got;
    }
    return {};
}

std::string operator_without_body(graph_data const& g) {
    for (graph_node const& n : g.nodes) {
        if (n.domain.empty() || n.domain == aten_domain || function_of(g, n) != nullptr) continue;
        if (!onnx::find(n.domain, n.op, version_of(g, n.domain)) && !runtime::has_kernel(n.domain, n.op))
            return n.domain + "::" + n.op;
    }
    return {};
}

} // namespace ATON_NAMESPACE::verify
