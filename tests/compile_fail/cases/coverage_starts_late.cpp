// rule: coverage
// error: aten::relu: no row of the table covers opset 13; rows for 13 to 20 are required
// twin: rows, 13, 20 => rows, 14, 20
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(override_<"aten::relu(self)">([](graph<14> g, value self) { return g.op<"Relu">(self); }));
static_assert(require_coverage<rows, 13, 20>());
