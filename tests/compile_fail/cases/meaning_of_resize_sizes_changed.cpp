// rule: meaning_changed
// error: onnx::Resize (opset 13): the meaning changed: sizes needs an empty scales before, scales must be omitted after; split the range [11, 28] at opset 13
// twin: graph<11> g => graph<11, 12> g
#include <aton/aton.hpp>
using namespace aton::dsl;
value resized(graph<11> g, value x, value roi, value no_scales, value sizes) {
    return g.op<"Resize">(x, roi, no_scales, sizes, attr::mode_s("linear"));
}
