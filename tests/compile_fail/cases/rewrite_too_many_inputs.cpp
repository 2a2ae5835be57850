// rule: too_many_inputs
// error: onnx::Exp (opset 13): 2 inputs given, at most 1 allowed
// twin: "Exp" => "Add"
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Exp">(x, x); },
                                                    [](graph<14>, value x) { return x; }));
