// rule: aten_operand
// error: aten::cat: argument tensors is Tensor[]; the operand is of another kind
// twin: (x, attr => (list, attr
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"cat">(x, attr_i<"dim">(1));
}
