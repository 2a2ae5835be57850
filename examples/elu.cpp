// SPDX-License-Identifier: MIT
// A mapping of aten::elu, whose scale argument has no counterpart in ONNX.
#include "example.hpp"

using namespace aton::dsl;

namespace {

inline constexpr auto activation = table(
    // ONNX's Elu has no scale: any value other than 1 is a Mul after it.
    symbolic<"aten::elu(self, alpha, scale)">([](graph<7> g, value self, double alpha, double scale) {
        value y = g.op<"Elu">(self, attr::alpha_f(alpha));
        return scale == 1.0 ? y : g.op<"Mul">(y, g.scalar(scale, y.dtype()));
    }));

graph_data elu() {
    graph_data data;
    value const x(data, data.add_input("x", value_type{dtype::float32, {2, 3}}));
    auto const results = convert(data,
                                 *find(activation, "aten::elu", 20),
                                 20,
                                 {argument::of_tensor(x), argument::of_number(0.5), argument::of_number(2)});
    data.outputs = {results[0].single.id()};
    return data;
}

} // namespace

int main(int argc, char** argv) { return example::show(elu, argc, argv); }
