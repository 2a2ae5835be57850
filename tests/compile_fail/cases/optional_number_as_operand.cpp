// rule: unusable
// error: onnx::Mul (opset 14): argument 2 is a std::optional, which may be empty; check it and pass *it
// twin: x, factor => x, *factor
#include <aton/aton.hpp>
using namespace aton::dsl;
#include <optional>

inline value f(graph<14> g, value x, std::optional<double> factor) { return g.op<"Mul">(x, factor); }
