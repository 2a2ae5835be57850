// rule: input_required
// error: onnx::Conv (opset 11): input W is required; it cannot be an optional value or absent
// twin: (x, w) => (x, *w)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    std::optional<value> w = y;
    (void)g.op<"Conv">(x, w);
}
