// rule: misuse
// error: g.within takes its range in angle brackets: g.within<18>(), g.within<13, 17>()
// twin: within(18) => within<18>()
#include <aton/aton.hpp>
using namespace aton::dsl;

inline value f(graph<13> g, value x) { return g.opset() < 18 ? x : value(g.within(18).op<"Mish">(x)); }
