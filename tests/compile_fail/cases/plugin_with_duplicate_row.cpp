// rule: duplicate_row
// error: my_ops::twice: two rows of the table cover opset 16; their ranges must not overlap
// twin: graph<13, 16> => graph<13, 15>
#include <aton/aton.hpp>
#include <aton/plugin.hpp>
using namespace aton::dsl;
inline constexpr auto old_rows =
    table(symbolic<"my_ops::twice(Tensor x) -> Tensor">([](graph<13, 16> g, value x) { return g.op<"Add">(x, x); }));
inline constexpr auto new_rows =
    table(symbolic<"my_ops::twice(Tensor x) -> Tensor">([](graph<16> g, value x) { return g.op<"Add">(x, x); }));
ATON_PLUGIN(old_rows, new_rows)
