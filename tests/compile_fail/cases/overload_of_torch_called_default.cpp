// rule: overload_called_default
// error: aten::relu.default: the default overload has no name in a schema; write aten::relu(...)
// twin: relu.default => relu
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu.default(self)">([](graph<13> g, value self) { return g.op<"Relu">(self); }));
