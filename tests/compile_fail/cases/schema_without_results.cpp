// rule: no_such_aten_operator
// error: my::f: no such ATen operator; a schema of your own must end with its results, as in -> Tensor
// twin: a)" => a) -> Tensor"
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::f(Tensor x, float a)">([](graph<13>, value x, double) { return x; }));
