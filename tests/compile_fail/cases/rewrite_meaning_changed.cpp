// rule: meaning_changed
// error: onnx::Softmax (opset 13): the meaning changed: flattens to 2-D at axis (default 1) before, works along one axis (default -1) after; split the range [11,
// twin: pattern<11> => pattern<14>
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](pattern<11> p, capture<value> x) { return p.op<"Softmax">(x); },
                                                    [](graph<7>, value x) { return x; }));
