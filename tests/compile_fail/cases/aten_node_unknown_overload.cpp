// rule: aten_operator
// error: aten::add.Tensr: no such ATen operator; did you mean aten::add.Tensor?
// twin: "add.Tensr" => "add.Tensor"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"add.Tensr">(x, c);
}
