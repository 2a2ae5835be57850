// rule: call_row
// error: call_row: the table has no row for this overload that covers the whole opset range of g
// twin: aten::relu">(rows => aten::neg">(rows
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(symbolic<"aten::neg(self)">([](graph<13> g, value self) { return g.op<"Neg">(self); }));
inline value build(graph<13> g, value x) {
    return call_row<"aten::relu">(rows, g, x);
}
