// rule: domain_declarations
// error: com.microsoft::QuickGelu: declared twice, with different signatures
// twin: QuickGelu(T X, float beta=1.0) => MatMulBnb4(T A, T B, T absmax, int K, int N)
#include <aton/domains/com_microsoft.hpp>
#include <aton/aton.hpp>
using namespace aton::dsl;

inline constexpr auto mine = domain<"com.microsoft", 1, op<"QuickGelu(T X, float beta=1.0) -> (T Y)">>{};
value f(graph<13, aton::domains::com_microsoft, mine> g, value x) { return g.op<"com.microsoft::QuickGelu">(x); }
