// rule: parameter_count
// error: aten::relu: the signature names 1 argument, but the body takes 2 after the graph
// twin: value self, double) => value self)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::relu(self)">([](graph<13> g, value self, double) {
        static_cast<void>(g);
        return self;
    }));
