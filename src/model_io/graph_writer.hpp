// SPDX-License-Identifier: MIT
// Converts a graph to protobuf messages: types, nodes with their origins, nested graphs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model_needs.hpp"
#include "proto.hpp"

#include <aton/ir/graph.hpp>
#include <aton/ir/names.hpp>

namespace ATON_NAMESPACE::detail {

/// Throws aton::error with the message on one line; names are untrusted.
[[noreturn]] void refuse(std::string const& what);

/// Throws aton::error, naming `what`, unless the number of bytes matches the sizes.
void require_whole(tensor const& t, std::string_view what);
void write_tensor(tensor const& from, std::string_view what, ::onnx::TensorProto& to);
void write_type(value_type const& from, ::onnx::TypeProto& to);
void add_opset_imports(graph_data const& g, model_needs const& needs, ::onnx::ModelProto& to);

class graph_writer {
public:
    explicit graph_writer(int ir) : ir_(ir) {}

    /// Makes calls of the functions of this graph have all of their outputs.
    void know_functions(graph_data const& g);

    /// Writes everything except the initializers. Returns the names of the values by id.
    std::vector<std::string> write_main(graph_data const& g, ::onnx::GraphProto& out);

    /// Writes the body of an operator. Throws aton::error unless it has one body that uses no values of other graphs.
    void write_function(graph_function const& f, ::onnx::FunctionProto& out);

    /// Writes a single call: operator and attributes. Its values are named i0, i1, ... and o0, o1, ...
    void write_call(graph_node const& n, ::onnx::NodeProto& out);

private:
    using node_list = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

    std::vector<std::string> write(graph_data const& g, ::onnx::GraphProto& out, bool is_main);
    std::string write_copy(std::string const& name, node_list& out);
    void write_nodes(graph_data const& g, std::vector<std::string> const& names, node_list& out);
    void write_node(graph_node const& n, node_origin const& origin, std::vector<std::string> const& names,
                    ::onnx::NodeProto& to);
    void write_origin(graph_node const& n, node_origin const& origin, ::onnx::NodeProto& to) const;
    void write_attribute(node_attribute const& a, std::string const& node, ::onnx::AttributeProto& to);

    int ir_;
    std::unordered_map<std::string, std::size_t> results_; ///< the number of results of each function
    std::size_t nodes_ = 0;
    value_names<> value_namer_;
    value_names<> node_namer_;
};

} // namespace ATON_NAMESPACE::detail
