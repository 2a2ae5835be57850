// rule: attribute_dtype
// error: onnx::Cast (opset 13): attribute to is float8_e4m3fn, allowed here: 
// twin: float8_e4m3fn => bfloat16
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Cast">(x, attr::to_i(dtype_c<dtype::float8_e4m3fn>));
}
