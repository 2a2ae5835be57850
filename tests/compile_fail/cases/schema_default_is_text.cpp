// rule: schema_default
// error: my::f: argument a is float, but its default is 'no'
// twin: 'no' => 0.5
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::f(Tensor x, float a='no') -> Tensor">([](graph<13>, value x, double) { return x; }));
