// rule: attribute_missing
// error: onnx::MaxPool (opset 12): required attribute kernel_shape (ints) is missing
// twin: strides_i => kernel_shape_i
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<12> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"MaxPool">(x, attr::strides_i({2, 3}));
}
