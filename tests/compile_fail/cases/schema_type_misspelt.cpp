// rule: parameter_type
// error: my_ops::f: argument y is Tensr, which is not a type of a schema; did you mean Tensor?
// twin: Tensr y => Tensor y
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(
    symbolic<"my_ops::f(Tensor x, Tensr y) -> Tensor">([](graph<13> g, value x, [[maybe_unused]] value) { return g.op<"Neg">(x); }));
