// SPDX-License-Identifier: MIT
// A branch or loop body under construction.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <aton/dsl/body.hpp>

#include "converter.hpp"
#include "make_attribute.hpp"

namespace ATON_NAMESPACE::exporter {

/// Nodes are added to this graph from its construction until take() or its destruction.
class converter::inner_graph {
public:
    inner_graph(converter& c, std::string name)
        : converter_(c),
          outer_(c.graph_),
          data_(dsl::detail::open_body(*outer_, outer_->opset)) {
        data_.name = std::move(name);
        c.graph_ = &data_;
    }
    inner_graph(inner_graph const&) = delete;
    inner_graph& operator=(inner_graph const&) = delete;
    ~inner_graph() { converter_.graph_ = outer_; }

    [[nodiscard]] dsl::value add_input(std::string name, value_type type) {
        return {data_, data_.add_input(std::move(name), std::move(type))};
    }
    void add_output(dsl::value const& v) { data_.outputs.push_back(data_.capture(v.owner(), v.id())); }

    /// Returns the graph as an attribute for a node of the outer graph, to which nodes are added from now on.
    [[nodiscard]] node_attribute take(std::string_view name) {
        converter_.graph_ = outer_;
        dsl::detail::leave_body(data_);
        node_attribute a = make_attribute(name, onnx::attr_type::g);
        a.graphs.push_back(std::move(data_));
        return a;
    }

private:
    converter& converter_;
    graph_data* outer_;
    graph_data data_;
};

} // namespace ATON_NAMESPACE::exporter
