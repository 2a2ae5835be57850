// SPDX-License-Identifier: MIT
// Inputs and attributes of a node, checked on access.
#include "call.hpp"

#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

[[noreturn]] void missing(std::string_view what, std::string_view name) {
    throw error(std::string(what) + " '" + std::string(name) + "' is missing");
}

/// The attribute; throws aton::error if it has another type.
node_attribute const* of_type(node_attribute const* a, onnx::attr_type type) {
    if (a != nullptr && a->type != type) throw error("attribute '" + a->name + "' has the wrong type");
    return a;
}

} // namespace

value const& call::any(std::size_t i) const {
    static value const none;
    return i < inputs_.size() ? inputs_[i] : none;
}

tensor const& call::in(std::size_t i) const {
    value const& v = any(i);
    if (v.is_sequence()) throw error("input " + std::to_string(i) + " is a sequence, expected a tensor");
    if (!v) throw error("input " + std::to_string(i) + " is missing");
    return v.one();
}

std::vector<tensor> const& call::sequence(std::size_t i) const {
    if (!any(i).is_sequence()) throw error("input " + std::to_string(i) + " is not a sequence");
    return any(i).many();
}

std::vector<tensor> call::tensors(std::size_t first) const {
    std::vector<tensor> out;
    for (std::size_t i = first; i < inputs_.size(); ++i) out.push_back(in(i));
    return out;
}

std::vector<std::int64_t> call::integers(std::size_t i) const {
    constexpr std::int64_t limit = 1 << 24; // bounds views, which may have any size
    if (in(i).count() > limit) throw error("input " + std::to_string(i) + " has too many elements");
    return to_host(in(i)).integers();
}

node_attribute const& call::required(std::string_view name) const {
    node_attribute const* const a = attribute(name);
    if (a == nullptr) missing("attribute", name);
    return *a;
}

std::int64_t call::i(std::string_view name) const { return of_type(&required(name), onnx::attr_type::i)->i; }
std::int64_t call::i(std::string_view name, std::int64_t otherwise) const {
    return has_attribute(name) ? i(name) : otherwise;
}
double call::f(std::string_view name) const {
    return static_cast<double>(of_type(&required(name), onnx::attr_type::f)->f);
}
double call::f(std::string_view name, double otherwise) const { return has_attribute(name) ? f(name) : otherwise; }
std::string call::s(std::string_view name) const { return of_type(&required(name), onnx::attr_type::s)->s; }
std::string call::s(std::string_view name, std::string_view otherwise) const {
    return has_attribute(name) ? s(name) : std::string(otherwise);
}
std::vector<std::int64_t> call::ints(std::string_view name) const {
    node_attribute const* const a = of_type(attribute(name), onnx::attr_type::ints);
    return a == nullptr ? std::vector<std::int64_t>() : a->ints;
}
std::vector<std::int64_t> call::ints(std::string_view name, std::vector<std::int64_t> otherwise) const {
    return has_attribute(name) ? ints(name) : std::move(otherwise);
}
std::vector<float> call::floats(std::string_view name) const {
    node_attribute const* const a = of_type(attribute(name), onnx::attr_type::floats);
    return a == nullptr ? std::vector<float>() : a->floats;
}
std::vector<std::string> call::strings(std::string_view name) const {
    node_attribute const* const a = of_type(attribute(name), onnx::attr_type::strings);
    return a == nullptr ? std::vector<std::string>() : a->strings;
}

tensor call::t(std::string_view name) const {
    node_attribute const& a = required(name);
    if (a.tensors.empty()) missing("the tensor of attribute", name);
    return to_device(tensor::from_constant(a.tensors.front()), where());
}

graph_data const& call::graph(std::string_view name) const {
    node_attribute const& a = required(name);
    if (a.graphs.empty()) missing("the graph of attribute", name);
    return a.graphs.front();
}

dtype call::type(std::string_view name, dtype otherwise) const {
    std::int64_t const number = i(name, static_cast<std::int64_t>(otherwise));
    dtype const found = dtype_from_onnx(number);
    if (found == dtype::undefined)
        throw error("attribute '" + std::string(name) + "' is not a data type: " + std::to_string(number));
    return found;
}

std::uint64_t call::seed() const {
    node_attribute const* const a = attribute("seed");
    if (a == nullptr) return runner_->next_seed();
    if (a->type == onnx::attr_type::i) return static_cast<std::uint64_t>(a->i); // Dropout has an integer seed
    auto const given = static_cast<float>(f("seed"));
    return static_cast<std::uint64_t>(scalar(given * 65536.0F).to_saturated<std::int64_t>());
}

std::size_t axis_in(tensor const& x, std::int64_t axis) {
    if (x.rank() == 0) throw error("a 0-d tensor has no axis " + std::to_string(axis));
    return axis_at(axis, x.rank());
}

tensor without_nan(tensor const& x, bool maximum) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return is_floating(x.dtype()) ? where(isnan(x), scalar(maximum ? -infinity : infinity), x) : x;
}

kernel find_kernel(std::string_view domain, std::string_view op) {
    static auto const known = [] {
        std::unordered_map<std::string, kernel> all;
        for (rows const family :
             {arithmetic(),     aten_nodes(),   attention(),        casts(),           constants(),        contrib(),
              control_flow(),   convolution(),  decoders(),         elementwise(),     indexing(),         layout(),
              linear_algebra(), losses(),       machine_learning(), normalization(),   object_detection(), padding(),
              pooling(),        quantization(), random(),           recurrent(),       reduction(),        resizing(),
              sequences(),      signals(),      strings(),          support_vectors(), text_features(),    training(),
              trees()})
            for (row const& r : family) all.emplace(std::string(r.domain) + "::" + std::string(r.op), r.run);
        return all;
    }();
    auto const found = known.find(std::string(domain) + "::" + std::string(op));
    return found == known.end() ? nullptr : found->second;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
