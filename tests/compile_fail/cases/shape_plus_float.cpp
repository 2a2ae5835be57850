// rule: no_common_type
// error: onnx::Add (opset 13): input B is float32, allowed here: int64
// twin: dtype::float32 => dtype::int64
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Add">(g.op<"Shape">(x), g.op<"Cast">(c, attr::to_i(dtype_c<dtype::float32>)));
}
