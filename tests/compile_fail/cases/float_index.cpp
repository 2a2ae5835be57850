// rule: no_common_type
// error: onnx::Gather (opset 13): input indices is float32, allowed here: int32|int64
// twin: cast<dtype::float32> => cast<dtype::int32>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Gather">(x, g.cast<dtype::float32>(c));
}
