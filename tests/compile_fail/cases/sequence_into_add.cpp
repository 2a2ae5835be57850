// rule: no_common_type
// error: onnx::Add (opset 13): input B is seq of
// twin: x, g.op<"SequenceConstruct">(c) => x, g.op<"Identity">(c)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Add">(x, g.op<"SequenceConstruct">(c));
}
