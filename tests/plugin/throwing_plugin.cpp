// SPDX-License-Identifier: MIT
// A plugin whose mappings fail in every possible way.
#include <new>
#include <stdexcept>
#include <string>

#include <aton/aton.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

namespace {

constexpr auto failing = table(
    symbolic<"fail::refuses(Tensor x) -> Tensor">(
        [](graph<13> g, value) -> value { return g.unsupported("this way"); }),
    symbolic<"fail::is_illegal(Tensor x) -> Tensor">([](graph<13> g, value x) -> value {
        return g.op<"Sin">(x); // of an integer
    }),
    symbolic<"fail::is_wrong(Tensor x) -> Tensor">([](graph<13>, value) -> value { throw aton::error("all wrong"); }),
    symbolic<"fail::throws(Tensor x) -> Tensor">(
        [](graph<13>, value) -> value { throw std::out_of_range("one\ntwo"); }),
    symbolic<"fail::throws_a_number(Tensor x) -> Tensor">([](graph<13>, value) -> value { throw 7; }),
    symbolic<"fail::throws_a_long_text(Tensor x) -> Tensor">(
        [](graph<13>, value) -> value { throw std::runtime_error(std::string(100'000, 'x')); }),
    symbolic<"fail::has_no_memory(Tensor x) -> Tensor">([](graph<13>, value) -> value { throw std::bad_alloc(); }),
    symbolic<"fail::shows_its_context(Tensor x, int n=3) -> Tensor">([](graph<13> g, value, std::int64_t) -> value {
        node_context const& c = g.context();
        return g.unsupported(std::string(c.op()) + '|' + std::string(c.node_name) + '|' + std::string(c.module) + '|' +
                             std::string(c.source) + '|' + std::to_string(c.arguments().size()) + '|' +
                             std::to_string(c.argument("n")->number.constant<int>()));
    }),
    symbolic<"fail::works(Tensor x) -> Tensor">([](graph<13> g, value x) -> value { return g.op<"Abs">(x); }));

} // namespace

ATON_PLUGIN(failing);
