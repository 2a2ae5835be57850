// rule: no_common_type
// error: onnx::Gather (opset 13): input indices is
// twin: 0.5 => 2
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) { return p.op<"Gather">(x, 0.5); }, [](graph<14>, value x) { return x; }));
