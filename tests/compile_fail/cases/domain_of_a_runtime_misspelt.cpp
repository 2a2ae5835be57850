// rule: domain_of_a_runtime
// error: com.microsft: did you mean com.microsoft? The name of a domain of your own must differ from it in three letters or more
// twin: "com.microsft" => "com.microsoft"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline constexpr auto mine = domain<"com.microsft", 1, op<"BiasGelu(T A, T B) -> (T C = like(A))", "T: float">>{};
