// rule: coverage
// error: my_ops::twice: no row of the table covers opset 17; rows for 13 to
// twin: graph<18> => graph<17>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"my_ops::twice(Tensor x) -> Tensor">([](graph<18> g, value x) { return g.op<"Add">(x, x); }),
    symbolic<"my_ops::twice(Tensor x) -> Tensor">([](graph<13, 16> g, value x) { return g.op<"Add">(x, x); }));
static_assert(require_coverage<rows, 13, newest>());
