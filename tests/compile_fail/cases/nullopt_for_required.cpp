// rule: input_required
// error: onnx::Conv (opset 11): input W is required; it cannot be an optional value or absent
// twin: std::nullopt => y
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::optional<std::int64_t> n) {
    (void)g.op<"Conv">(x, std::nullopt);
}
