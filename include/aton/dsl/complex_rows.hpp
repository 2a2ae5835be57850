// SPDX-License-Identifier: MIT
// Rows that convert complex tensors part by part: the names of `by_parts`, and the two calls of the body.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/complex_value.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/graph.hpp>
#include <aton/dsl/invocation.hpp>
#include <aton/dsl/parameter.hpp>
#include <aton/dsl/signature.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// In the place of a body: the row's own body, once for the real parts and once for the imaginary parts of the arguments in `Mask`, by their
/// positions in the schema.
template <std::uint64_t Mask>
struct each_part {
    static constexpr std::uint64_t mask = Mask;
};
template <class T>
inline constexpr bool is_each_part = false;
template <std::uint64_t Mask>
inline constexpr bool is_each_part<each_part<Mask>> = true;

template <class Parameters>
inline constexpr bool takes_complex = false;
template <class... P>
inline constexpr bool takes_complex<std::tuple<P...>> = (is_complex_parameter<P> || ...);

template <std::size_t N>
constexpr named_argument const* find_named(bound_arguments<N> const& bound, std::string_view name) {
    for (std::size_t i = 0; i != N; ++i)
        if (bound.arguments[i].name == name) return &bound.arguments[i];
    return nullptr;
}

template <std::size_t N>
constexpr bool has_tensors(bound_arguments<N> const& bound) {
    for (std::size_t i = 0; i != N; ++i)
        if (bound.arguments[i].type.base == base_type::tensor) return true;
    return false;
}

template <fixed_string... Names, std::size_t N>
constexpr std::uint64_t parts_mask(bound_arguments<N> const& bound) {
    std::uint64_t mask = 0;
    for (std::string_view const name : {std::string_view(), Names.view()...})
        if (named_argument const* const a = find_named(bound, name)) mask |= std::uint64_t{1} << a->position;
    return mask;
}

/// What is wrong with the names of `by_parts`; empty: nothing.
template <fixed_string... Names, std::size_t N>
constexpr sentence parts_problem(signature_facts const& f, bound_arguments<N> const& bound) {
    sentence s;
    for (std::string_view const name : {std::string_view(), Names.view()...}) {
        if (name.empty()) continue;
        named_argument const* const a = find_named(bound, name);
        if (a == nullptr)
            return s << f.overload << ": by_parts names " << name << ", which the signature does not name";
        if (a->type.base != base_type::tensor && !is_number_type(a->type.base))
            return s << f.overload << ": by_parts names " << name << ", but it is " << a->type.text
                     << ", which has no imaginary part";
    }
    return s;
}

template <class Signature, fixed_string... Names>
struct parts_check {
    static constexpr sentence problem = parts_problem<Names...>(Signature::facts, Signature::bound);
    using verdict = std::conditional_t<problem.length == 0, char, diagnosis<problem>>; // incomplete
};

/// The complex dtype of an argument's tensors; undefined: they are real, or it has none.
template <class Argument>
dtype complex_type(Argument const& a) {
    if (a.tensor && is_complex(a.tensor->dtype())) return a.tensor->dtype();
    for (optional_value const& v : a.tensors)
        if (v && is_complex(v->dtype())) return v->dtype();
    return dtype::undefined;
}
template <class Arguments>
bool has_complex_tensor(Arguments const& arguments) {
    for (auto const& a : arguments)
        if (complex_type(a) != dtype::undefined) return true;
    return false;
}

/// The types of the results that the program records, as those of their parts while a body for reals runs.
class expected_parts {
public:
    explicit expected_parts(node_context& context) : context_(context), whole_(context.expected) {
        for (value_type& each : context.expected) each.dtype = part_type(each.dtype);
    }
    expected_parts(expected_parts const&) = delete;
    expected_parts& operator=(expected_parts const&) = delete;
    ~expected_parts() { context_.expected = std::move(whole_); }

private:
    node_context& context_;
    std::vector<value_type> whole_;
};

/// Takes the real (0) or imaginary (1) parts of the arguments of a call.
template <class Graph>
class part_of_call {
public:
    part_of_call(Graph g, std::size_t part) : g_(g), part_(part) {}

    /// The argument itself if it is not `named`; only its dtype is then that of the parts.
    void take(bound_argument& a, bool named) const {
        if (is_complex(a.type)) a.type = part_type(a.type);
        if (a.tensor) a.tensor = taken(*a.tensor, a, named);
        for (optional_value& v : a.tensors)
            if (v) v = taken(*v, a, named);
        for (value& v : a.values) v = taken(v, a, named);
        if (!named) {
            if (a.kind == argument_kind::number && a.number.is_constant() && a.number.is_complex())
                refuse(a, dtype::complex128);
            return;
        }
        if (a.kind == argument_kind::number) a.number = taken(a.number);
        for (number& n : a.numbers) n = taken(n);
        for (scalar& s : a.scalars) s = taken(number(s)).constant();
    }

private:
    value taken(value const& v, bound_argument const& a, bool named) const {
        if (is_complex(v.dtype()) && !named) refuse(a, v.dtype());
        if (is_complex(v.dtype())) return g_.part(complex_value(v), part_);
        return named && part_ == 1 ? g_.zeros_like(v) : v;
    }
    number taken(number const& n) const {
        if (!n.is_constant()) return part_ == 0 ? n : number(0);
        scalar const& s = n.constant();
        if (s.is_complex()) return part_ == 0 ? s.to<double>() : s.imaginary();
        return part_ == 0 ? n : number(s.is_floating() ? scalar(0.0) : s.is_bool() ? scalar(false) : scalar(0));
    }
    [[noreturn]] static void refuse(bound_argument const& a, dtype type) {
        throw unsupported_error("argument '" + std::string(a.name) + "' is " + std::string(name(type)) +
                                "; the mapping takes real numbers there");
    }

    Graph g_;
    std::size_t part_;
};

/// Refuses a call with complex tensors at an opset that only the row's body for reals covers.
inline void require_opset_of_complex(int opset, int since, int until = onnx::newest_opset) {
    if (opset < since) throw unsupported_error("complex tensors need opset " + std::to_string(since));
    if (opset > until)
        throw unsupported_error("complex tensors are converted only up to opset " + std::to_string(until));
}

/// Converts a call with a body for reals, once for each part.
template <class Invocation>
void run_by_parts(Invocation& in, std::uint64_t mask, void (*run)(Invocation&)) {
    require_opset_of_complex(in.opset, graph<7>::since);
    graph<7> const g(in.graph, in.opset);
    bool const has_tensor = has_complex_tensor(in.arguments);
    for (bound_argument const& a : in.arguments)
        if (has_tensor && a.kind == argument_kind::type && a.type != dtype::undefined && !is_complex(a.type))
            throw unsupported_error("a conversion of complex numbers to " + std::string(name(a.type)));
    std::vector<result> parts[2];
    for (std::size_t part = 0; part != 2; ++part) {
        expected_parts const scope(in.graph.context);
        std::vector<bound_argument> arguments(in.arguments.begin(), in.arguments.end());
        part_of_call const call(g, part);
        for (std::size_t i = 0; i != arguments.size(); ++i) call.take(arguments[i], (mask >> i & 1U) != 0);
        Invocation one{in.graph, in.opset, arguments, {}, in.row};
        run(one);
        parts[part] = std::move(one.results);
    }
    auto const joined = [&](value const& real, value const& imaginary) {
        return g.to_value(g.complex(real, imaginary));
    };
    for (std::size_t i = 0; i != parts[0].size(); ++i) {
        result& real = parts[0][i];
        result const& imaginary = parts[1][i];
        if (real.single) real.single = joined(*real.single, *imaginary.single);
        for (std::size_t k = 0; k != real.list.size(); ++k) real.list[k] = joined(real.list[k], imaginary.list[k]);
    }
    in.results = std::move(parts[0]);
}

} // namespace ATON_NAMESPACE::dsl::detail
