// rule: error_of_cpp
// error: no_such_name
// twin: no_such_name => x
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my_ops::f(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Neg">(no_such_name); }));
