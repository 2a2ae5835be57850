// rule: parameter_type
// error: my_ops::f: argument a is double, which is not a type of a schema; did you mean float?
// twin: double a => float a
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(
    symbolic<"my_ops::f(Tensor x, double a) -> Tensor">([](graph<13> g, value x, [[maybe_unused]] double ) { return g.op<"Neg">(x); }));
