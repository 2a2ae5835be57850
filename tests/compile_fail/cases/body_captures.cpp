// rule: body
// error: aten::relu: the body must not capture anything
// twin: [extra = 0.25] => []
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr double extra = 0.25;
inline auto make() {
    return symbolic<"aten::relu(self)">([extra = 0.25](graph<13> g, value self) { return g.op<"LeakyRelu">(self, attr::alpha_f(extra)); });
}
