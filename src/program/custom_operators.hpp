// SPDX-License-Identifier: MIT
// Custom operators that write to their arguments: reads their schemas, and converts auto_functionalized and auto_functionalized_v2
// to calls.
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
    std::size_t result = npos; ///< the result of the schema that returns it
    static constexpr std::size_t npos = ~std::size_t{0};
};

struct custom_operator {
    std::size_t results = 0; ///< number of results in the schema
    std::vector<written_argument> written;
    bool returns_view = false; ///< a result is a view of an argument, or an argument is returned twice
};

[[nodiscard]] custom_operator read_custom_operator(std::string_view schema);

/// A call of an operator on copies of its mutated arguments.
struct decoded_call {
    std::vector<node> before; ///< nodes that make the copies and views of them
    node call;
    custom_operator op;
};

[[nodiscard]] bool is_auto_functionalized(node const& n);

/// The operator that an auto_functionalized node runs. Throws aton::error if there is none.
[[nodiscard]] std::string const& functionalized_operator(program const& p, node const& n);

/// Converts an auto_functionalized node to a call. `schema` is that of the operator, or empty if unknown; auto_functionalized (v1) then becomes
/// a call that is marked as functional. Throws aton::error for an inconsistent node.
[[nodiscard]] decoded_call decode_functionalized(node_emitter& out, node const& n, std::string_view schema);

} // namespace ATON_NAMESPACE::program
