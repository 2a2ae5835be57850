// rule: malformed_signature
// error: my::fill(Tensor($0! -> a) out) -> (): expected ')' after an alias annotation
// twin: ($0! -> a) => ($0! -> )
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::fill(Tensor($0! -> a) out) -> ()">([](graph<13>, value out) { return out; }));
