// rule: no_such_attribute
// error: onnx::ReduceSum (opset 13): no attribute axes; axes is an input here
// twin: attr::axes_i({1}) => p.ints({1})
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"ReduceSum">(x, attr::axes_i({1})); },
                          [](graph<14>, value x) { return x; }));
