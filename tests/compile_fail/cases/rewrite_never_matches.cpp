// rule: no_common_type
// error: onnx::Not (opset 1): input X is
// twin: "Not" => "Neg"
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) { return p.op<"Not">(p.op<"Exp">(x)); }, [](graph<14>, value x) { return x; }));
