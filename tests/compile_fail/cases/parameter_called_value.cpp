// rule: parameter_type
// error: my_ops::f: argument key is Tensor, but the parameter takes int or a constant SymInt; write value; the parameter called value hides the type, so rename it
// twin: value value, std::int64_t => value query, value
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my_ops::f(Tensor value, Tensor key) -> Tensor">(
    [](graph<13> g, [[maybe_unused]] value value, std::int64_t) { return g.scalar(2, dtype::float32); }));
