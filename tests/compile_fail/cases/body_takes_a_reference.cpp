// rule: body
// error: my::f: parameter 2 of the body after the graph is a non-const reference; take it by value
// twin: value& y => value const& y
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(
    symbolic<"my::f(Tensor x, Tensor y) -> Tensor">([](graph<14> g, value x, value& y) { return g.op<"Add">(x, y); }));
