// rule: unusable
// error: onnx::Cast (opset 13): argument 2 is not a value, number, list of values, attribute or outputs<n>
// twin: (x, dtype::int64) => (x, attr::to_i(dtype::int64))
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Cast">(x, dtype::int64);
}
