// SPDX-License-Identifier: MIT
// A small ATen program through the built-in tables: r = relu(x), then r * r + y.
#include <string_view>
#include <utility>
#include <vector>

#include <aton/mappings/activation.hpp>
#include <aton/mappings/elementwise_binary.hpp>

#include "example.hpp"

using namespace aton::dsl;

namespace {

inline constexpr table_view families[] = {aton::mappings::activation, aton::mappings::elementwise_binary};

value call(graph_data& data, std::string_view overload, std::vector<argument> arguments) {
    entry const* const row = find(families, overload, data.opset);
    if (row == nullptr) throw aton::error(std::string(overload) + ": no mapping at this opset");
    return *convert(data, *row, data.opset, std::move(arguments))[0].single;
}

graph_data program() {
    graph_data data;
    data.opset = 20;
    value const x(data, data.add_input("x", value_type{dtype::float32, {std::string("batch"), 3}}));
    value const y(data, data.add_input("y", value_type{dtype::float32, {3}}));
    value const r = call(data, "aten::relu", {argument::of_tensor(x)});
    value const square = call(data, "aten::mul.Tensor", {argument::of_tensor(r), argument::of_tensor(r)});
    value const sum = call(data, "aten::add.Tensor", {argument::of_tensor(square), argument::of_tensor(y)});
    data.outputs = {sum.id()};
    return data;
}

} // namespace

int main(int argc, char** argv) { return example::show(program, argc, argv); }
