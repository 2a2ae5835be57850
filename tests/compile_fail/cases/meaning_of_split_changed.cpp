// rule: meaning_changed
// error: onnx::Split (opset 18): the meaning changed: the number of outputs sets the number of parts before, split or num_outputs must after; split the range [13, 28] at opset 18
// twin: (x, absent => (x, lengths
#include <aton/aton.hpp>
using namespace aton::dsl;
value first_half(graph<13> g, value x, [[maybe_unused]] value lengths) {
    auto [first, second] = g.op<"Split">(x, absent, outputs<2>);
    (void)second;
    return first;
}
