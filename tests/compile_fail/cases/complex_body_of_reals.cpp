// rule: complex_body
// error: aten::neg: the body for complex tensors takes none; write complex_value for the arguments that may be complex
// twin: for_complex([](graph<13> g, value z) { return g.op<"Neg">(z); }) => by_parts<"self">()
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto row = symbolic<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Neg">(x); }).for_complex([](graph<13> g, value z) { return g.op<"Neg">(z); });
