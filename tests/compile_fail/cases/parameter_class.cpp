// rule: parameter_type
// error: my::packed: argument w is __torch__.torch.classes.quantized.LinearPackedParamsBase, an object, which a model cannot hold; declare its tensors and numbers as arguments instead
// twin: __torch__.torch.classes.quantized.LinearPackedParamsBase => Tensor
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto rows = table(symbolic<"my::packed(Tensor x, __torch__.torch.classes.quantized.LinearPackedParamsBase w) -> Tensor">([](graph<13>, value x, value) { return x; }));
