// SPDX-License-Identifier: MIT
#include "expression_table.hpp"

#include <aton/core/error.hpp>
#include <aton/frontend/pt2/read_program.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::pt2 {

program::extent expression_table::extent(json_value const& sym_int) {
    json_value const held = sym_int.only_member();
    if (held.key() == "as_int") return {held.integer(), program::extent::none};
    if (held.key() == "as_expr") return of_text(held.member("expr_str"));
    sym_int.fail("expected as_int or as_expr, found " + files::in_quotes(held.key()));
}

program::extent expression_table::of_text(json_value const& text) {
    auto const [known, is_new] = texts_.try_emplace(text.text());
    if (!is_new) return known->second;
    program::expression parsed;
    try {
        parsed = parse_expression(known->first);
    } catch (error const& e) {
        text.fail(e.what());
    }
    if (parsed.kind == program::expression_kind::integer) return known->second = {parsed.number, program::extent::none};
    program::extent const next{0, static_cast<std::uint32_t>(out_.size())};
    auto const [place, first] = distinct_.try_emplace(to_string(parsed), next);
    if (first) out_.push_back(std::move(parsed));
    return known->second = place->second;
}

} // namespace ATON_NAMESPACE::pt2
