// rule: unusable
// error: onnx::Reshape (opset 14): argument 2 is a list of numbers; write g.ints(list) for an input
// twin: std::vector<std::int64_t>{0, -1}) => g.ints({0, -1}))
#include <vector>

#include <aton/aton.hpp>
using namespace aton::dsl;

value f(graph<14> g, value x) { return g.op<"Reshape">(x, std::vector<std::int64_t>{0, -1}); }
