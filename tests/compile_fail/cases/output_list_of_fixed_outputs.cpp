// rule: outputs_not_variadic
// error: onnx::TopK (opset 11): has a fixed number of outputs; use outputs<2>, not output_list
// twin: output_list(2) => outputs<2>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<11> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"TopK">(x, y, output_list(2));
}
