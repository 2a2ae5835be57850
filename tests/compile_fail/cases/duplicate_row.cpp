// rule: duplicate_row
// error: aten::relu: two rows of the table cover opset 15; their ranges must not overlap
// twin: graph<15> => graph<16>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(self)">([](graph<13, 15> g, value self) { return g.op<"Relu">(self); }),
    symbolic<"aten::neg(self)">([](graph<13> g, value self) { return g.op<"Neg">(self); }),
    symbolic<"aten::relu(self)">([](graph<15> g, value self) { return g.op<"Relu">(self); }));
