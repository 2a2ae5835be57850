// rule: parameter_type
// error: my_ops::f: argument n is int64_t, which is not a type of a schema; did you mean int?
// twin: int64_t n => int n
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(
    symbolic<"my_ops::f(Tensor x, int64_t n) -> Tensor">([](graph<13> g, value x, [[maybe_unused]] std::int64_t ) { return g.op<"Neg">(x); }));
