// SPDX-License-Identifier: MIT
// A branch or the body of a loop while its nodes are made.
#pragma once

#include <string>
#include <utility>

#include "converter.hpp"

namespace aton::exporter {

/// Nodes are added to this graph from its construction until it is taken, or goes out of scope.
class converter::inner_graph {
public:
    inner_graph(converter& c, std::string name) : converter_(c), around_(c.graph_) {
        data_.name = std::move(name);
        data_.opset = around_->opset;
        data_.around = around_;
        data_.origins.push_back(around_->origins[around_->context.origin]);
        data_.context.overload = around_->context.overload;
        data_.context.origin = 1;
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
    [[nodiscard]] node_attribute take(std::string name) {
        converter_.graph_ = around_;
        for (auto const& [domain, version] : data_.opset_imports) around_->import_domain(domain, version);
        data_.around = nullptr;
        data_.context = {};
        node_attribute a;
        a.name = std::move(name);
        a.type = onnx::attr_type::g;
        a.graphs.push_back(std::move(data_));
        return a;
    }

private:
    converter& converter_;
    graph_data* around_;
    graph_data data_;
};

} // namespace aton::exporter
