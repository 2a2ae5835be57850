// rule: coverage
// error: static assertion failed
// twin: graph<14> => graph<13>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(override_<"aten::relu(self)">([](graph<14> g, value self) { return g.op<"Relu">(self); }));
static_assert(covers<rows, 13, newest>);
