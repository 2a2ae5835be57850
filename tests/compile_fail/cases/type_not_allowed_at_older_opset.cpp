// rule: no_common_type
// error: onnx::Relu (opset 13): input X is int64
// twin: graph<13> => graph<14>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Relu">(g.op<"Shape">(x));
}
