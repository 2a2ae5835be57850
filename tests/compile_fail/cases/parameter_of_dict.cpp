// rule: parameter_type
// error: my::weighted: argument weights is Dict(str, Tensor), which no C++ parameter type can hold; declare a list of its keys and one of its values instead
// twin: Dict(str, Tensor) weights => Tensor[] weights
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows =
    table(symbolic<"my::weighted(Tensor x, Dict(str, Tensor) weights) -> Tensor">([](graph<13>, value x, std::span<value const>) { return x; }));
