// rule: domain_of_a_runtime
// error: com.microsoft: this domain is that of ONNX Runtime, which knows only version 1
// twin: 7, op => 1, op
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto mine = domain<"com.microsoft", 7, op<"BiasGelu(T A, T B) -> (T C = like(A))", "T: float">>{};
