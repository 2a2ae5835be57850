// rule: too_many_outputs
// error: onnx::TopK (opset 11): outputs<3> requested, at most 2 allowed
// twin: outputs<3> => outputs<2>
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
inline constexpr auto table = rewrites(rewrite<"r">(
    [](pattern<14> p, capture<value> x) {
        auto const all = p.op<"TopK">(x, p.ints({2}), outputs<3>);
        return p.op<"Neg">(std::get<0>(all));
    },
    [](graph<14>, value x) { return x; }));
