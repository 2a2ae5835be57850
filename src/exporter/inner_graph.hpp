// SPDX-License-Identifier: MIT
// A branch or the body of a loop while its nodes are made.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <aton/dsl/body.hpp>

#include "converter.hpp"
#include "make_attribute.hpp"

namespace ATON_NAMESPACE::exporter {

/// Nodes are added to this graph from its construction until it is taken, or goes out of scope.
class converter::inner_graph {
public:
    inner_graph(converter& c, std::string name)
        : converter_(c),
          around_(c.graph_),
          data_(dsl::detail::open_body(*around_, around_->opset)) {
        data_.name = std::move(name);
        c.graph_ = &data_;
    }
    inner_graph(inner_graph const&) = delete;
    inner_graph& operator=(inner_graph const&) = delete;
    ~inner_graph() { converter_.graph_ = around_; }

    [[nodiscard]] dsl::value add_input(std::string name, value_type type) {
        return {data_, data_.add_input(std::move(name), std::move(type))};
    }
    void add_output(dsl::value const& v) { data_.outputs.push_back(data_.capture(v.owner(), v.id())); }

    /// The graph as an attribute of a node of the graph around it, which goes on growing.
    [[nodiscard]] node_attribute take(std::string_view name) {
        converter_.graph_ = around_;
        dsl::detail::leave_body(data_);
        node_attribute a = make_attribute(name, onnx::attr_type::g);
        a.graphs.push_back(std::move(data_));
        return a;
    }

private:
    converter& converter_;
    graph_data* around_;
    graph_data data_;
};

} // namespace ATON_NAMESPACE::exporter
