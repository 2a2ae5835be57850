// rule: override
// error: static assertion failed
// twin: symbolic< => override_<
#include <aton/aton.hpp>
#include <aton/mappings.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(symbolic<"aten::relu(self)">([](graph<14> g, value self) { return g.op<"Relu">(self); }));
static_assert(!aton::mappings::hides_built_in_rows(rows));
