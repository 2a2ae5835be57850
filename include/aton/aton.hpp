// SPDX-License-Identifier: MIT
// The DSL without the built-in tables: everything needed to write mappings.
// Public header.
#pragma once

// First the headers in which calls are rejected: compilers print the include path of an error.
#include <aton/dsl/value.hpp>

#include <aton/dsl/decomposition.hpp>
#include <aton/dsl/misuses.hpp>

#include <aton/core/budget.hpp>
#include <aton/core/safe_list.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/domain.hpp>
#include <aton/dsl/graph.hpp>

#include <aton/dsl/promotion.hpp>
#include <aton/dsl/symbolic.hpp>
#include <aton/dsl/table.hpp>
#include <aton/dsl/table_coverage.hpp>
#include <aton/dsl/tables.hpp>
#include <aton/ir/print.hpp>

namespace ATON_NAMESPACE::dsl {

using aton::checked_add;
using aton::checked_int;
using aton::checked_multiply;
using aton::checked_subtract;
using aton::dim;
using aton::dtype;
using aton::fixed_string;
using aton::graph_data;
using aton::illegal_call;
using aton::node_context;
using aton::refused;
using aton::safe_span;
using aton::safe_vector;
using aton::scalar;
using aton::shape;
using aton::tensor;
using aton::unsupported_error;
using aton::value_type;
namespace budget = aton::budget;

} // namespace ATON_NAMESPACE::dsl
