// rule: no_such_operator
// error: onnx::Expp (opset 14): no such operator; did you mean Exp?
// twin: Expp => Exp
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(x); },
                                                    [](graph<14> g, value x) { return g.op<"Expp">(x); }));
