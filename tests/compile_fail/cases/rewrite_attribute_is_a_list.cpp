// rule: attribute_type
// error: onnx::Softmax (opset 13): attribute axis is an int, given ints
// twin: capture<std::vector<std::int64_t>> => capture<std::int64_t>
#include <aton/dsl/rewrite.hpp>
using namespace aton;
using namespace aton::dsl;
struct scalar_or_list {
    scalar_or_list(std::int64_t) {}
    scalar_or_list(std::vector<std::int64_t> const&) {}
};
inline constexpr auto table = rewrites(
    rewrite<"r">([](pattern<14> p, capture<value> x,
                    capture<std::vector<std::int64_t>> axis) { return p.op<"Softmax">(x, attr::axis_i(axis)); },
                 [](graph<14>, value x, scalar_or_list const&) { return x; }));
