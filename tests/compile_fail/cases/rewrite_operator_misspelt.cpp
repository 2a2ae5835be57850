// rule: no_such_operator
// error: onnx::Sigmoidd (opset 14): no such operator; did you mean Sigmoid?
// twin: Sigmoidd => Sigmoid
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Sigmoidd">(x); },
                                                    [](graph<14>, value x) { return x; }));
