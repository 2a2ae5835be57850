// rule: parameter_count
// error: aten::elu: the signature names 2 arguments, but the body takes 1 after the graph
// twin: value self) => value self, double)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::elu(self, alpha)">([](graph<13> g, value self) {
        static_cast<void>(g);
        return self;
    }));
