// rule: coverage
// error: aten::relu: no row of the table holds at opset 13; rows from 13 to 20 are wanted
// twin: rows, 13, 20 => rows, 14, 20
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(override_<"aten::relu(self)">([](graph<14> g, value self) { return g.op<"Relu">(self); }));
static_assert(require_coverage<rows, 13, 20>());
