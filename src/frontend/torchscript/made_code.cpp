// SPDX-License-Identifier: MIT
#include "made_code.hpp"

#include <utility>

namespace ATON_NAMESPACE::torchscript {

namespace {

template <class Made, class Syntax>
Made made_at(Syntax const& place) {
    Made out;
    out.line = place.line;
    out.offset = place.offset;
    return out;
}

template <class Syntax>
expr name_at(Syntax const& place, std::string text) {
    auto out = made_at<expr>(place);
    out.is = expr_kind::name;
    out.text = std::move(text);
    return out;
}

template <class Syntax>
stmt assignment_at(Syntax const& place, expr to, expr from) {
    auto out = made_at<stmt>(place);
    out.is = stmt_kind::assign;
    out.targets.push_back(std::move(to));
    out.value = std::move(from);
    return out;
}

/// torch.`function`(a, b)
expr call_at(stmt const& place, std::string function, expr a, expr b) {
    auto callee = made_at<expr>(place);
    callee.is = expr_kind::attribute;
    callee.text = std::move(function);
    callee.items.push_back(name_at(place, "torch"));
    auto out = made_at<expr>(place);
    out.is = expr_kind::call;
    out.items = {std::move(callee), std::move(a), std::move(b)};
    return out;
}

} // namespace

stmt branches_of(expr const& e, std::string const& variable) {
    auto out = made_at<stmt>(e);
    out.is = stmt_kind::if_;
    out.body.push_back(assignment_at(e, name_at(e, variable), e.items[0]));
    out.other.push_back(assignment_at(e, name_at(e, variable), e.items[2]));
    return out;
}

stmt counted_loop(stmt const& s, std::string const& counter, std::string const& end) {
    expr one;
    one.is = expr_kind::integer;
    one.integer = 1;
    auto out = made_at<stmt>(s);
    out.is = stmt_kind::while_;
    out.value = call_at(s, "lt", name_at(s, counter), name_at(s, end));
    out.body.push_back(assignment_at(s, s.targets.at(0), name_at(s, counter)));
    out.body.insert(out.body.end(), s.body.begin(), s.body.end());
    out.body.push_back(assignment_at(s, name_at(s, counter), call_at(s, "add", name_at(s, counter), one)));
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
