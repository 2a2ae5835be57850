// rule: no_common_type
// error: onnx::Concat (opset 13): input inputs is int64, allowed here: float32|float16|float64|bfloat16
// twin: "Size" => "Relu"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    auto r = g.op<"Sigmoid">(x);
    (void)g.op<"Concat">(g.op<"Abs">(r), g.op<"Identity">(g.op<"Size">(x)), attr::axis_i(0));
}
