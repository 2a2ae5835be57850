// SPDX-License-Identifier: MIT
#include "declared_types.hpp"

#include <algorithm>
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

/// Unknown sizes fit any.
bool fits(value_type const& declared, runtime::tensor const& x) {
    if (declared.dtype != dtype::undefined && declared.dtype != x.dtype()) return false;
    if (!declared.shape.has_rank()) return true;
    auto const dims = declared.shape.dims();
    return std::equal(
        dims.begin(), dims.end(), x.sizes().begin(), x.sizes().end(), [](dim const& d, std::int64_t size) {
            return !d.is_static() || d.size() == size;
        });
}

std::string text_of(value_type const& t) {
    std::string out(t.dtype == dtype::undefined ? std::string_view("a tensor") : name(t.dtype));
    if (!t.shape.has_rank()) return out;
    std::string sizes;
    for (dim const& d : t.shape.dims())
        sizes += (sizes.empty() ? "" : ", ") + (d.is_static() ? std::to_string(d.size()) : std::string("?"));
    return out + '[' + sizes + ']';
}

int version_of(graph_data const& g, std::string_view domain) {
    for (auto const& [known, version] : g.opset_imports)
        if (known == domain) return version;
    return domain.empty() ? g.opset : 1;
}

} // namespace

std::string declared_difference(graph_data const& g, graph_node const& n, std::span<runtime::value const> results) {
    graph_function const* const f = function_of(g, n);
    if (f == nullptr) return {};
    for (std::size_t i = 0; i != results.size(); ++i) {
        if (n.outputs[i] == no_value || !results[i].is_tensor()) continue;
        value_type const& declared = g.values[n.outputs[i]].type;
        if (declared.kind != value_kind::tensor || fits(declared, results[i].one())) continue;
        graph_data const& body = f->body.at(0);
        return n.domain + "::" + n.op + ": the output " + body.values[body.outputs.at(i)].name + " is declared as " +
               text_of(declared) + ", but its body computes " + std::string(name(results[i].one().dtype())) +
               runtime::to_string(results[i].one().sizes());
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
