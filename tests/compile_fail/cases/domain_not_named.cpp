// rule: no_such_domain
// error: my_domain::Blend (opset 13): the graph does not name this domain; declare it with domain<...> and add it: graph<13, my_domain>
// twin: graph<13> g => graph<13, my_domain> g
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto my_domain = domain<
    "my_domain", 3, op<"Blend(T X, T Y, T? Mask, float alpha, int n=1, float[] knots=[0.5, 2], string mode='a') -> (T Z)", "T: float16, float">,
    op<"Pieces(tensor(int64) At, T... Parts) -> (T First, T? Rest)", "T: float, int64">>{};
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"my_domain::Blend">(x, y, attr_f<"alpha">(0.5));
}
