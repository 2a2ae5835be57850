// rule: parameter_type
// error: my::turned: argument by is complex, but the parameter takes float or Scalar; write scalar
// twin: double => scalar
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::turned(Tensor x, complex by) -> Tensor">([](graph<13>, value x, double) { return x; }));
