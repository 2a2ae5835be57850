// rule: schema_default
// error: my::f: argument m is bool, but its default is true
// twin: true => True
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::f(Tensor x, bool m=true) -> Tensor">([](graph<13>, value x, bool) { return x; }));
