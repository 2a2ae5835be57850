// rule: attribute_dtype
// error: onnx::Multinomial (opset 7): attribute dtype is float32, allowed here: int32|int64
// twin: float32 => int64
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Multinomial">(x, attr::dtype_i(dtype_c<dtype::float32>));
}
