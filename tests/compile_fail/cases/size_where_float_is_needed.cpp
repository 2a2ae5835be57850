// rule: no_common_type
// error: onnx::Sigmoid (opset 13): input X is int64
// twin: (n) => (g.op<"Cast">(n, attr::to_i(dtype::float32)))
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    sym_int const n = g.size(x, 0);
    (void)g.op<"Sigmoid">(n);
}
