// rule: too_many_outputs
// error: onnx::MaxPool (opset 12): outputs<3> requested, at most 2 allowed
// twin: outputs<3> => outputs<2>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<12> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"MaxPool">(x, attr::kernel_shape_i({3}), outputs<3>);
}
