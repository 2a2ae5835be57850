// rule: list_not_variadic
// error: onnx::Relu (opset 13): input X takes a single value, not a list
// twin: (list) => (x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Relu">(list);
}
