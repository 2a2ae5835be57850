// SPDX-License-Identifier: MIT
// Operators that torch does not declare and that write to their arguments: what their schemas say, and the calls that
// auto_functionalized and auto_functionalized_v2 stand for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

/// An argument that an operator writes to.
struct written_argument {
    std::string name;
    std::size_t result = npos; ///< the result of the schema that it is
    static constexpr std::size_t npos = ~std::size_t{0};
};

struct custom_operator {
    std::size_t results = 0; ///< of its schema
    std::vector<written_argument> written;
    bool returns_view = false; ///< a result is a view of an argument, or an argument is returned twice
};

[[nodiscard]] custom_operator read_custom_operator(std::string_view schema);

/// The call of an operator on copies of what it writes to.
struct unfolded_call {
    std::vector<node> before; ///< what makes the copies, and views of them
    node call;
    custom_operator op;
};

[[nodiscard]] bool is_auto_functionalized(node const& n);

/// The operator that such a node runs; throws where it has none.
[[nodiscard]] std::string const& functionalized_operator(program const& p, node const& n);

/// What such a node stands for. `schema`: of the operator, empty where it is not known; then auto_functionalized becomes a call that is
/// functional already. Throws aton::error for a node that contradicts itself.
[[nodiscard]] unfolded_call unfold(node_emitter& out, node const& n, std::string_view schema);

} // namespace ATON_NAMESPACE::program
