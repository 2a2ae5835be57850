// rule: signature
// error: aten::rellu: no such ATen operator; did you mean aten::relu?
// twin: aten::rellu => aten::relu
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(override_<"aten::rellu(self)">([](graph<13> g, value self) { return g.op<"Relu">(self); }));
