// rule: input_required
// error: onnx::Concat (opset 13): input inputs is required; it cannot be an optional value or absent
// twin: (x, o, => (x, y,
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Concat">(x, o, attr::axis_i(0));
}
