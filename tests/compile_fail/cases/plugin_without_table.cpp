// rule: plugin
// error: ATON_PLUGIN(...) takes one or more tables made by table(...) or rewrites(...)
// twin: ATON_PLUGIN(rows[0]) => ATON_PLUGIN(my_table)
#include <aton/aton.hpp>
#include <aton/plugin.hpp>
using namespace aton::dsl;
inline constexpr auto my_table =
    table(symbolic<"my_ops::twice(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Add">(x, x); }));
inline constexpr entry rows[] = {my_table.entries[0]};
ATON_PLUGIN(rows[0])
