// rule: body
// error: the body must be a lambda whose first parameter is a graph<...> by value, with no auto parameters; if it has an error, correct that first
// twin: auto g => graph<13> g
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(self)">([](auto g, value self) { return g.template op<"Relu">(self); }));
