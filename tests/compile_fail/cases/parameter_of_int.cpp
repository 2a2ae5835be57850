// rule: parameter_type
// error: aten::softmax.int: argument dim is int, but the parameter takes float or Scalar; write std::int64_t
// twin: double dim => std::int64_t dim
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(
    symbolic<"aten::softmax.int(self, dim)">([](graph<13> g, value self, double dim) {
        static_cast<void>(g);
        static_cast<void>(dim);
        return self;
    }));
