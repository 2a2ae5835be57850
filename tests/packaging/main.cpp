// SPDX-License-Identifier: MIT
// A program of another project with its own mapping: converts a call and compares the printed graph with the expected one.
#include <cstdio>
#include <string>
#include <string_view>

#include <aton/aton.hpp>

using namespace aton::dsl;

namespace {

inline constexpr auto my_ops =
    table(symbolic<"my_ops::scaled_elu(Tensor x, float alpha=1.0, float scale=1.0) -> Tensor">(
        [](graph<13> g, value x, double alpha, double scale) {
            return g.op<"Mul">(g.op<"Elu">(x, attr::alpha_f(alpha)), scale);
        }));

constexpr std::string_view expected = R"(graph(%x : Float(2, batch)):
  %1 : Float(2, batch) = onnx::Elu[alpha=0.5](%x)   # my_ops::scaled_elu
  %2 : Float() = onnx::Constant[value={3}]()   # my_ops::scaled_elu
  %3 : Float(2, batch) = onnx::Mul(%1, %2)   # my_ops::scaled_elu
  return (%3)
)";

} // namespace

int main() {
    graph_data data;
    value const x(data, data.add_input("x", value_type{dtype::float32, {2, "batch"}}));
    auto const results = convert(data,
                                 *find(my_ops, "my_ops::scaled_elu", 20),
                                 20,
                                 {argument::of_tensor(x), argument::of_number(0.5), argument::of_number(3)});
    data.outputs = {results[0].single.id()};

    std::string const printed = to_string(data);
    std::fputs(printed.c_str(), stdout);
    if (printed == expected) return 0;
    std::fprintf(stderr, "expected:\n%s", expected.data());
    return 1;
}
