// rule: duplicate_row
// error: aten::neg: two rows of the table cover opset 13; their ranges must not overlap
// twin: graph<7> => graph<7, 12>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto first = table(symbolic<"aten::neg(self)">([](graph<13> g, value self) { return g.op<"Neg">(self); }));
inline constexpr auto second = table(symbolic<"aten::neg(self)">([](graph<7> g, value self) { return g.op<"Neg">(self); }));
inline constexpr auto both = first + second;
