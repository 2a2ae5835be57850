// rule: too_few_inputs
// error: onnx::Mul (opset 14): input B is missing, 1 given
// twin: "Mul" => "Abs"
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(
    rewrite<"r">([](pattern<14> p, capture<value> x) { return p.op<"Mul">(x); }, [](graph<14>, value x) { return x; }));
