// rule: no_such_argument
// error: aten::elu: no argument alph; did you mean alpha?
// twin: alph) => alpha)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::elu(self, alph)">([](graph<13> g, value self, double) {
        static_cast<void>(g);
        return self;
    }));
