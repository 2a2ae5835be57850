// rule: no_such_operator
// error: ai.onnx.ml::Scalar (opset 5): no such operator; did you mean Scaler?
// twin: Scalar => Scaler
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"ai.onnx.ml::Scalar">(x);
}
