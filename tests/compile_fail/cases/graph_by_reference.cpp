// rule: body
// error: the body must be a lambda whose first parameter is a graph<...> by value, with no auto parameters; if it has an error, correct that first
// twin: graph<13> const& g => graph<13> g
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(self)">([](graph<13> const& g, value self) { return g.op<"Relu">(self); }));
