// rule: coverage
// error: my_ops::twise: the table has no row for it; did you mean my_ops::twice?
// twin: my_ops::twise" => my_ops::twice"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows =
    table(symbolic<"my_ops::twice(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Add">(x, x); }));
static_assert(require_coverage<rows, 13, newest, "my_ops::twise">());
