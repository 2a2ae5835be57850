// rule: duplicate_row
// error: aten::relu: two rows of the table cover opset 14; their ranges must not overlap
// twin: graph<13, 14> => graph<13, 13>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(self)">([](graph<13, 14> g, value self) { return g.op<"Relu">(self); }),
    override_<"aten::relu(self)">([](graph<14> g, value self) { return g.op<"Relu">(self); }));
