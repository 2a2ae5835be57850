// rule: input_required
// error: onnx::Mul (opset 14): input B is required; it cannot be an optional value or absent
// twin: absent => x
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) { return p.op<"Mul">(x, absent); }, [](graph<14>, value x) { return x; }));
