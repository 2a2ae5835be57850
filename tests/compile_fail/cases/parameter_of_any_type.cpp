// rule: parameter_type
// error: my::called: argument what is Any, which no C++ parameter type can hold; declare the type of what is passed instead
// twin: Any what => Tensor what
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::called(Any what) -> Tensor">([](graph<13>, value x) { return x; }));
