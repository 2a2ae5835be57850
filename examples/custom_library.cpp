// SPDX-License-Identifier: MIT
// A table for your own library: torch does not declare the operator, so the row contains the whole schema string, as in
// TORCH_LIBRARY(custom_ops, m) { m.def("foo_forward(...) -> Tensor"); }.
#include <cstdint>

#include <aton/mappings/elementwise_binary.hpp>

#include "example.hpp"

using namespace aton::dsl;

namespace {

// foo_forward(input1, input2, attr1, attr2) = attr1 * input1 + input2 ** attr2
inline constexpr auto custom_ops =
    table(symbolic<"custom_ops::foo_forward(Tensor input1, Tensor input2, float attr1, int attr2=2) -> Tensor">(
        [](graph<13> g, value input1, value input2, double attr1, std::int64_t attr2) -> value {
            value const scaled = g.op<"Mul">(input1, attr1);
            value const power = g.op<"Pow">(input2, g.scalar(attr2, dtype::int64));
            return g.op<"Add">(scaled, power);
        }));

// Your own tables and the built-in ones are searched together; earlier tables take priority.
inline constexpr table_view tables[] = {custom_ops, aton::mappings::elementwise_binary};

graph_data foo() {
    graph_data data;
    value const a(data, data.add_input("input1", value_type{dtype::float32, {2, 3}}));
    value const b(data, data.add_input("input2", value_type{dtype::float32, {2, 3}}));
    // attr2 is not given: the schema's default is used
    auto const results = convert(data,
                                 *find(tables, "custom_ops::foo_forward", 20),
                                 20,
                                 {argument::of_tensor(a), argument::of_tensor(b), argument::of_number(1.5)});
    data.outputs = {results[0].single.id()};
    return data;
}

} // namespace

int main(int argc, char** argv) { return example::show(foo, argc, argv); }
