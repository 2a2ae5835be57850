// rule: domain
// error: ai.onnx.ml: this domain belongs to ONNX; give yours another name
// twin: ai.onnx.ml => my_domain
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<"ai.onnx.ml", 1, op<"Foo(T X) -> (T Z)", "T: float16, float">>{};
