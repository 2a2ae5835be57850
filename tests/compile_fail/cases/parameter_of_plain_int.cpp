// rule: parameter_type
// error: aten::softmax.int: argument dim is int; write std::int64_t
// twin: int dim => std::int64_t dim
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::softmax.int(self, dim)">([](graph<13> g, value self, int dim) {
        static_cast<void>(g);
        return g.op<"Softmax">(self, attr::axis_i(dim));
    }));
