// rule: input_required
// error: onnx::Conv (opset 11): input W is required; it cannot be an optional value or absent
// twin: absent => y
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<11> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Conv">(x, absent);
}
