// rule: no_common_type
// error: onnx::SequenceAt (opset 11): input input_sequence is
// twin: g.op<"Neg">(x) => g.op<"SequenceConstruct">(x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"SequenceAt">(g.op<"Neg">(x), g.scalar(0, dtype::int64));
}
