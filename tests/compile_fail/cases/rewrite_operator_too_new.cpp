// rule: operator_too_new
// error: onnx::Swish (opset 14): first appears in opset 24; start the range of the graph there
// twin: "Swish" => "Sigmoid"
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Swish">(x); },
                                                    [](graph<14>, value x) { return x; }));
