// rule: parameter_type
// error: my::casts: argument to is ScalarType[], which no C++ parameter type can hold; declare a type that docs/language.md lists instead
// twin: ScalarType[] to => ScalarType to
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::casts(Tensor x, ScalarType[] to) -> Tensor">([](graph<13>, value x, dtype) { return x; }));
