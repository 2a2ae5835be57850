// rule: aten_argument
// error: aten::add.Tensor: no argument alhpa; did you mean alpha?
// twin: "alhpa" => "alpha"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.at<"add.Tensor">(x, c, attr_f<"alhpa">(2.0));
}
