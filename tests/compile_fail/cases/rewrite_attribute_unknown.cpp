// rule: no_such_attribute
// error: onnx::Softmax (opset 13): no attribute axes; did you mean axis?
// twin: axes_i => axis_i
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Softmax">(x, attr::axes_i(1)); },
                          [](graph<14>, value x) { return x; }));
