// SPDX-License-Identifier: MIT
// Plugins that are not built with ATON_PLUGIN. HOSTILE selects the error in the description.
#include <cstdint>
#include <string_view>

#include <aton/dsl/plugin_description.hpp>
#if HOSTILE >= 50
#include <aton/ir/pattern.hpp>
#endif

#define EXPORT __attribute__((visibility("default")))

// hostile_facts.cpp: the description of a valid plugin
aton::abi::text honest_version();
aton::abi::text honest_library();
std::uint64_t honest_layout();

namespace {

using namespace aton;

constexpr std::string_view schema = "hostile::op(Tensor x, int n=2) -> Tensor";
constexpr std::string_view other_library = "libother, ABI 7";
constexpr std::string_view control = "hostile::op\n";
constexpr std::uint8_t positions[] = {0, 1, 2};

constexpr abi::row row{abi::text_of("hostile::op"), abi::text_of(schema), positions, 2, 13, 28, 0, 0};

std::int32_t run(std::uint64_t, void*, abi::report* say, void* sink) {
    say(sink, "has run", 7);
    return abi::unsupported;
}

constexpr abi::row rows_of(int hostile) {
    abi::row r = row;
    switch (hostile) {
    case 20: r.overload = {nullptr, 5}; break;
    case 21: r.schema = {nullptr, 1}; break;
    case 22: r.schema.size = ~std::uint64_t{0}; break;
    case 23: r.overload = abi::text_of(control); break;
    case 24: r.schema = abi::text_of("hostile::op(Tensor x"); break;
    case 25: r.overload = abi::text_of("hostile::another"); break;
    case 26: r.named_count = 3; break;
    case 27: r.named = nullptr; break;
    case 28: r.named = positions + 1; break; // 1, 2: argument 2 does not exist
    case 29: r.since = 0; break;
    case 30: r.until = 1000; break;
    case 31: r.until = 12; break;
    case 32:
        r.overload = abi::text_of("aten::relu");
        r.schema = abi::text_of("aten::relu(Tensor y) -> Tensor");
        r.named_count = 1;
        break;
    case 33: r.overload = {}; break;
    default: break;
    }
    return r;
}

[[maybe_unused]] constexpr abi::row rows[] = {rows_of(HOSTILE), row};

#if HOSTILE >= 50
using term = pattern_term;
constexpr term terms[] = {
    {.what = HOSTILE == 64 ? term::kind::type : term::kind::capture, .index = HOSTILE == 64 ? 99 : 0},
    {.what = term::kind::node, .index = HOSTILE == 50 ? 1 : 0},
    {.what = HOSTILE == 63 ? term::kind::list : term::kind::either,
     .index = HOSTILE == 51 || HOSTILE == 63 ? 2 : 0,
     .count = 2}};
constexpr pattern_attribute attributes[] = {
    {.name = "axis", .type = onnx::attr_type::ints, .first = 0, .count = HOSTILE == 52 ? 1 : 0}};
constexpr bool are_calls = HOSTILE >= 61;
constexpr std::string_view call_schema =
    HOSTILE == 61 ? "lib::f(Tensor x, Tensor y) -> Tensor" : "lib::f(Tensor x) -> Tensor";
constexpr pattern_node nodes[] = {{.domain = {},
                                   .op = "Neg",
                                   .schema = are_calls && HOSTILE != 62 ? call_schema : std::string_view(),
                                   .first_operand = HOSTILE == 53 ? 2 : 0,
                                   .operand_count = HOSTILE == 53 ? 2 : 1,
                                   .attribute_count = are_calls ? 0 : 1},
                                  {.domain = {},
                                   .op = "Abs",
                                   .schema = are_calls ? call_schema : std::string_view(),
                                   .first_operand = HOSTILE == 51 || HOSTILE == 63 ? 2 : 1,
                                   .operand_count = 1}};
constexpr capture_kind captures[] = {HOSTILE == 54 ? static_cast<capture_kind>(77) : capture_kind::value};
void build(graph_data&, int, std::span<captured const> c, std::span<value_id> results) { results[0] = c[0].value; }

constexpr rewrite_entry hostile_rewrite() {
    rewrite_entry r{
        HOSTILE == 55 ? std::string_view("tab\t") : std::string_view("hostile"), 13, 28, {}, nullptr, &build};
    r.pattern = {nodes, terms, attributes, {}, {}, captures, {.what = term::kind::node, .index = 1}};
    if (HOSTILE == 56) r.build = nullptr;
    if (HOSTILE == 57) r.since = 0;
    if (HOSTILE == 58) r.pattern.root.index = 2;
    return r;
}
constexpr rewrite_entry hostile_rewrites[] = {hostile_rewrite()};
#endif

[[maybe_unused]] abi::description describe(int hostile) {
    abi::description d{{'A', 't', 'o', 'n', 'P', 'l', 'u', 'g'},
                       sizeof(abi::description),
                       honest_version(),
                       honest_library(),
                       honest_layout(),
                       rows,
                       1,
                       &run,
                       nullptr,
                       0};
#if HOSTILE >= 50 && HOSTILE != 60
    d.rewrites = hostile_rewrites;
    d.rewrite_count = 1;
#elif HOSTILE == 60
    d.rewrite_count = 1; // and no rewrites
#endif
    switch (hostile) {
    case 1: d.magic[7] = 'h'; break;
    case 2: d.bytes = 8; break;
    case 3: d.version = {nullptr, 5}; break;
    case 4: d.version = abi::text_of("99.1.2"); break;
    case 5: d.library = abi::text_of(other_library); break;
    case 6: d.layout ^= 1; break;
    case 7: d.rows = nullptr; break;
    case 8: d.row_count = 0; break;
    case 9: d.row_count = ~std::uint64_t{0}; break;
    case 10: d.row_count = 99'999; break; // only two exist
    case 11: d.run = nullptr; break;
    case 12: d.row_count = 2; break; // a duplicate row
    case 59: d.rewrite_count = ~std::uint64_t{0}; break;
    default: break;
    }
    return d;
}

} // namespace

extern "C" {
#if HOSTILE == 40
extern EXPORT int const aton_plugin;
int const aton_plugin = 0; // too short
#elif HOSTILE == 41
EXPORT void aton_plugin();
void aton_plugin() {}
#elif HOSTILE == 42
extern EXPORT char const aton_plugin[4096];
char const aton_plugin[4096] = {'A', 't', 'o', 'n', 'P', 'l', 'u', 'g', 1}; // and zeros
#elif HOSTILE == 43
EXPORT void not_aton_plugin();
void not_aton_plugin() {}
#elif HOSTILE == 44
extern EXPORT abi::description aton_plugin; // invalid addresses
abi::description aton_plugin{{'A', 't', 'o', 'n', 'P', 'l', 'u', 'g'},
                             sizeof(abi::description),
                             {reinterpret_cast<char const*>(std::uintptr_t{16}), 5},
                             {reinterpret_cast<char const*>(~std::uintptr_t{0}), 5},
                             0,
                             nullptr,
                             1,
                             nullptr,
                             nullptr,
                             0};
#else
extern EXPORT abi::description const aton_plugin;
abi::description const aton_plugin = describe(HOSTILE);
#endif
}
