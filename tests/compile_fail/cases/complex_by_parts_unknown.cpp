// rule: parts
// error: aten::neg: by_parts names input, which the signature does not name
// twin: "input" => "self"
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto row = symbolic<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Neg">(x); }).by_parts<"input">();
