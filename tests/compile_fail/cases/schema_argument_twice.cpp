// rule: malformed_signature
// error: my::twice(Tensor x, Tensor x) -> Tensor: two arguments have the same name; rename one of them where the operator is registered
// twin: Tensor x, Tensor x) => Tensor x, Tensor y)
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::twice(Tensor x, Tensor x) -> Tensor">([](graph<13>, value x, value) { return x; }));
