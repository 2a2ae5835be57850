// SPDX-License-Identifier: MIT
// One ATen operator, several ONNX operators: beta * self + alpha * (mat1 @ mat2).
#include "example.hpp"

using namespace aton::dsl;

namespace {

inline constexpr auto products = table(symbolic<"aten::addmm(self, mat1, mat2, beta, alpha)">(
    [](graph<7> g, value self, value mat1, value mat2, scalar beta, scalar alpha) {
        value product = g.op<"MatMul">(mat1, mat2);
        if (!(alpha == 1)) product = g.op<"Mul">(product, g.scalar(alpha, product.dtype()));
        if (beta == 0) return product; // ATen ignores self in this case, even if it contains NaN
        value term = self;
        if (!(beta == 1)) term = g.op<"Mul">(self, g.scalar(beta, self.dtype()));
        return value(g.op<"Add">(term, product));
    }));

graph_data addmm() {
    graph_data data;
    value const self(data, data.add_input("self", value_type{dtype::float32, {4}}));
    value const a(data, data.add_input("mat1", value_type{dtype::float32, {2, 3}}));
    value const b(data, data.add_input("mat2", value_type{dtype::float32, {3, 4}}));
    auto const results = convert(data,
                                 *find(products, "aten::addmm", 20),
                                 20,
                                 {argument::of_tensor(self),
                                  argument::of_tensor(a),
                                  argument::of_tensor(b),
                                  argument::of_number(0.5),
                                  argument::of_number(2)});
    data.outputs = {results[0].single.id()};
    return data;
}

} // namespace

int main(int argc, char** argv) { return example::show(addmm, argc, argv); }
