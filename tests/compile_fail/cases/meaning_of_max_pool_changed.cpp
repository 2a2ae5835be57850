// rule: meaning_changed
// error: onnx::MaxPool (opset 22): the meaning changed: with ceil_mode, windows that start in the right padding count before, are ignored after; split the range [19, 28] at opset 22
// twin: ceil_mode_i => storage_order_i
#include <aton/aton.hpp>
using namespace aton::dsl;
value pooled(graph<19> g, value x) { return g.op<"MaxPool">(x, attr::kernel_shape_i({3, 2}), attr::ceil_mode_i(1)); }
