// rule: mixed
// error: rewrite r: a pattern is of nodes of ONNX, p.op<...>(...), or of calls of ATen, p.call<...>(...), not of both
// twin: op<"Neg"> => call<"aten::neg">
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table =
    rewrites(rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.call<"aten::relu">(x)); },
                          [](graph<14>, value x) { return x; }));
