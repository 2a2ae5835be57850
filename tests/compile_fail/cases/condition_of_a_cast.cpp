// rule: no_common_type
// error: onnx::Where (opset 9): input condition is int64, allowed here: bool
// twin: dtype_c<dtype::int64> => dtype_c<dtype::bool_>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Where">(g.op<"Cast">(c, attr::to_i(dtype_c<dtype::int64>)), x, x);
}
