// SPDX-License-Identifier: MIT
// The handle with which mappings build ONNX graphs. Every call is checked at compile time against every opset of the graph's range.
// Public header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/core/safe_list.hpp>
#include <aton/core/tensor.hpp>
#include <aton/dsl/aten_node.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/call.hpp>
#include <aton/dsl/call_site.hpp>
#include <aton/dsl/complex_value.hpp>
#include <aton/dsl/constant_list.hpp>
#include <aton/dsl/misuses.hpp>
#include <aton/dsl/node_builder.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/number_arithmetic.hpp>
#include <aton/dsl/number_text.hpp>
#include <aton/dsl/refusal.hpp>
#include <aton/dsl/size_list.hpp>
#include <aton/dsl/value.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

template <fixed_string Why>
struct refused {};

consteval bool is_range(int since, int until) { return 1 <= since && since <= until && until <= onnx::newest_opset; }

} // namespace detail

/// A graph in which every call must be legal at each opset from `Since` to the integer in `More` (default: the newest).
/// Two words, passed by value. Converts to a graph of a range that contains its own, so bodies can share helpers and call each other's rows.
template <int Since, auto... More>
class graph : public complex_operations<graph<Since, More...>>, public misuses<graph<Since, More...>> {
public:
    using misuses<graph>::op;
    using misuses<graph>::scalar;
    using misuses<graph>::within;
    using complex_operations<graph>::cast;
    using complex_operations<graph>::to_value;

    /// The first opset of the range.
    static constexpr int since = Since;
    /// The last opset of the range.
    static constexpr int until = detail::last_opset<More...>();
    static_assert(detail::is_range(since, until), "graph<Since, Until>: 1 <= Since <= Until <= newest opset");
    static_assert(detail::one_version_of_each<More...>(),
                  "graph<...> names one domain in two versions; a model imports only one version of a domain");
#ifdef ATON_DIAGNOSIS_IN_CONDITION
    static_assert(detail::holds<detail::declarations_verdict<More...>>);
#else
    static_assert(sizeof(detail::declarations_verdict<More...>) != 0);
#endif

    /// A handle to `data` for this target opset; sets the opset of `data` if it has none.
    /// Throws aton::error where the target is outside the range.
    graph(graph_data& data, int target) : data_(&data), opset_(target) {
        if (target < since || target > until)
            throw error("opset " + std::to_string(target) + " is outside graph<" + std::to_string(since) + ", " +
                        std::to_string(until) + ">");
        if (data.opset == 0) data.opset = target;
    }

private:
    template <int OtherSince, auto... Other>
    static constexpr bool widens = OtherSince >= since && graph<OtherSince, Other...>::until <= until &&
                                   (detail::names_domain<More, Other...>() && ...);

public:
    /// A graph of this, wider range from one of a narrower range that names the same domains.
    template <int OtherSince, auto... Other>
        requires(widens<OtherSince, Other...>)
    // NOLINTNEXTLINE(google-explicit-constructor): what is legal in a wider range is legal in a narrower one.
    graph(graph<OtherSince, Other...> g) : data_(&g.data()),
                                           opset_(g.opset()) {}

    /// Deleted overload; exists only for its diagnostic, which compilers print when a helper cannot take a graph.
    template <int OtherSince, auto... Other>
        requires(!widens<OtherSince, Other...>)
    graph(graph<OtherSince, Other...>, detail::refused<"opset out of range, or domain missing"> = {}) = delete;

    /// The target opset.
    [[nodiscard]] int opset() const { return opset_; }
    /// The graph under construction, which the handle does not own.
    [[nodiscard]] graph_data& data() const { return *data_; }
    /// The call being converted: overload, source line, expected results.
    [[nodiscard]] node_context const& context() const { return data_->context; }
    /// Whether NaN must be treated as ATen does, even if that takes more nodes (`aton export --nan exact`).
    [[nodiscard]] bool exact_nan() const { return data_->context.exact_nan; }

    /// The same graph in a narrower range, inside `if (g.opset() <= 17)` and the like: `g.within<13, 17>()`.
    /// ```cpp body
    /// if (g.opset() >= 18) {
    ///     value const hidden = g.within<18>().op<"Mish">(x);
    /// }
    /// ```
    template <int NarrowSince, auto... NarrowMore>
    [[nodiscard]] graph<NarrowSince, NarrowMore...> within() const {
        return {*data_, opset_};
    }

private:
    /// The index in `More` of the domain, or of its declaration that has the operator, of this name; -1: none.
    static constexpr int domain_of([[maybe_unused]] std::string_view name) {
        if constexpr (detail::count_domains<More...>() != 0)
            return detail::domain_index<More...>(detail::split_name(name).domain, detail::split_name(name).op);
        else return -1;
    }

public:
    /// A call at compile time: whether it is `legal`, else its `problem`.
    template <fixed_string Name, class... Args>
    using call = typename detail::call_of<domain_of(Name.view()), More...>::template type<Since, until, Name, Args...>;

    /// Calls an ONNX operator: `g.op<"Elu">(x, attr::alpha_f(0.5))`, "ai.onnx.ml::Scaler" for other domains. Arguments are operands in
    /// schema order (values, optional values, `absent`, numbers, lists for variadic inputs); attributes and `outputs<n>` may be anywhere.
    /// Returns one value, a tuple for `outputs<n>`, a vector for `output_list(n)`. Throws illegal_call for dtypes illegal at the target opset.
    /// ```cpp body
    /// value const scaled = g.op<"Mul">(x, 0.5);                                  // the number becomes a constant of x's dtype
    /// auto const [largest, at] = g.op<"TopK">(x, g.ints({5}), outputs<2>);       // two outputs
    /// value const joined = g.op<"Concat">(list, attr::axis_i(0));                // a list for a variadic input
    /// value const limited = g.op<"Clip">(x, absent, g.scalar_like(6, x));        // without the optional minimum
    /// ```
    template <fixed_string Name = "", class A = detail::not_given, class B = detail::not_given,
              class C = detail::not_given, class D = detail::not_given, class E = detail::not_given,
              class F = detail::not_given, class G = detail::not_given, class H = detail::not_given>
    [[nodiscard("the node is unused; write (void)g.op<...>(...) if that is intended")]]
    auto op(A const& a = A(), B const& b = B(), C const& c = C(), D const& d = D(), E const& e = E(), F const& f = F(),
            G const& g = G(), H const& h = H(), call_site at = call_site::here()) const {
        using checked = call<Name, A, B, C, D, E, F, G, H>;
        constexpr int declared = domain_of(Name.view());
        if constexpr (declared < 0) {
            if constexpr (!checked::legal) {
                using broken_rule = detail::diagnosis<checked::problem>; // GCC prints a name and what it stands for
                (void)sizeof(broken_rule);
            }
            constexpr int version = checked::domain.empty() ? 0 : onnx::newest_version(checked::domain);
            int const opset = version != 0 ? version : opset_;
            detail::node_builder<graph_data> node(*data_,
                                                  checked::domain,
                                                  checked::op,
                                                  onnx::find(checked::domain, checked::op, opset),
                                                  opset,
                                                  opset_,
                                                  at);
            if constexpr (checked::legal) detail::add_all(node, a, b, c, d, e, f, g, h);
            if constexpr (version != 0) data_->import_domain(checked::domain, version);
            value_id const first = node.finish();
            return checked::results(*data_, first, data_->values.size() - first);
        } else {
            using domain = typename detail::call_of<declared, More...>::domain;
            using source = typename detail::call_of<declared, More...>::template source<Name>;
            if constexpr (!checked::legal) {
                using broken_rule = detail::diagnosis<checked::problem>;
                (void)sizeof(broken_rule);
                return checked::no_results();
            } else {
                static constexpr detail::declared_operator const& found = source::declared();
                if constexpr (found.body_since > since || until > found.body_until) {
                    constexpr detail::sentence problem = detail::body_range_problem(found, since, until);
                    (void)sizeof(detail::diagnosis<problem>);
                }
                detail::node_builder<graph_data, onnx::declared_schema> node(
                    *data_, checked::domain, checked::op, found.schema, domain::version, opset_, at);
                data_->import_domain(checked::domain, domain::version);
                detail::add_all(node, a, b, c, d, e, f, g, h);
                value_id const first = node.finish();
                detail::complete(*data_, found, opset_);
                return checked::results(*data_, first, data_->values.size() - first);
            }
        }
    }

    template <fixed_string Name, class A, class B, class C, class D, class E, class F, class G, class H, class I,
              class... Rest>
    [[nodiscard("the node is unused; write (void)g.op<...>(...) if that is intended")]]
    auto op(A const& a, B const& b, C const& c, D const& d, E const& e, F const& f, G const& g, H const& h, I const& i,
            Rest const&... rest) const {
        using checked = call<Name, A, B, C, D, E, F, G, H, I, Rest...>;
        if constexpr (!checked::legal) {
            using broken_rule = detail::diagnosis<checked::problem>;
            (void)sizeof(broken_rule);
            return checked::no_results();
        } else {
            detail::argument_pack<A, B, C, D, E, F, G, H, I, Rest...> const all{{a, b, c, d, e, f, g, h, i, rest...}};
            return op<Name>(all, call_site());
        }
    }

    /// Calls ATen itself, for runtimes that have it: `g.at<"pow">(x, attr_f<"exponent">(2.0))`, `g.at<"add.Tensor">(x, y)`. Operands are
    /// the tensors in the order of ATen's schema; all other arguments are attributes with their names. The results have no type; use set_type().
    template <fixed_string Name, class... Args>
    [[nodiscard("the node is unused; write (void)g.at<...>(...) if that is intended")]]
    auto at(Args const&... args) const {
        using checked = detail::aten_call<Name, Args...>;
        if constexpr (!checked::legal) (void)sizeof(detail::diagnosis<checked::problem>);
        return detail::append_aten_call<checked>(*data_, opset_, args...);
    }

    /// A 0-d constant. Refuses a number that does not fit the dtype; to convert it, use `g.cast(g.scalar(300, dtype::int64), dtype::int8)`.
    /// ```cpp body
    /// value const one = g.scalar(1, dtype::float32);
    /// ```
    [[nodiscard]] value scalar(aton::scalar number, dtype type) const {
        if (!fits(number, type)) detail::refuse_constant(number, type);
        return constant(scalar_tensor(number, type));
    }
    /// A number as a 0-d value of this dtype: a constant, or a Cast of a number that the graph computes.
    template <std::same_as<number> Number>
    [[nodiscard]] value scalar(Number const& n, dtype type) const {
        return n.is_constant() ? scalar(n.constant(), type) : cast(n.as_value(), type);
    }
    /// A constant tensor.
    /// ```cpp body
    /// std::int64_t const steps[] = {1, 2, 4};
    /// value const dilations = g.constant(aton::int64_tensor(steps));
    /// ```
    [[nodiscard]] value constant(tensor data) const {
        return {*data_, detail::append_constant(*data_, std::move(data))};
    }
    /// A constant from a list of numbers: braces, a vector, a span, an array. Without a dtype, integers are int64, `double` is float64,
    /// `float` float32 and `bool` bool; without sizes, it is 1-d. Refuses numbers that do not fit the dtype, and sizes that need another
    /// number of elements.
    /// ```cpp body
    /// value const mean = g.constant({0.485, 0.456, 0.406}, dtype::float32, {3, 1, 1});
    /// value const limits = g.constant({0, 255}, x.dtype());
    /// ```
    [[nodiscard]] value constant(constant_list const& list) const {
        return constant(list.to_tensor(list.natural_type()));
    }
    [[nodiscard]] value constant(constant_list const& list, dtype type) const { return constant(list.to_tensor(type)); }
    [[nodiscard]] value constant(constant_list const& list, dtype type, std::vector<std::int64_t> const& sizes) const {
        return constant(list.to_tensor(type, sizes));
    }
    [[nodiscard]] value constant(constant_list const& list, std::vector<std::int64_t> const& sizes) const {
        return constant(list.to_tensor(list.natural_type(), sizes));
    }
    /// A 1-d int64 value of integers or sizes: a constant if all are constant, else a Concat.
    /// ```cpp body
    /// value const flat = g.op<"Reshape">(x, g.ints({0, g.size(x, 1), -1}));
    /// ```
    template <class List>
    [[nodiscard]] value ints(List const& list) const {
        constexpr bool of_ints = detail::list_of_integers<List>;
        constexpr bool of_sizes = std::convertible_to<List const&, std::span<sym_int const>>;
        static_assert(of_ints || of_sizes, "g.ints takes a list of integers or of sizes");
        if constexpr (of_ints) return constant(constant_list(list), dtype::int64);
        else if constexpr (of_sizes) return detail::size_list(*this, {std::data(list), std::size(list)});
        else return {};
    }
    [[nodiscard]] value ints(std::initializer_list<std::int64_t> list) const {
        return constant(int64_tensor({list.begin(), list.size()}));
    }
    template <class = void> // so that {} is not ambiguous
    [[nodiscard]] value ints(std::initializer_list<sym_int> list) const {
        return detail::size_list(*this, {list.begin(), list.size()});
    }
    /// A size as a 0-d int64 value.
    [[nodiscard]] value to_value(sym_int const& s) const {
        return s.is_constant() ? scalar(s.constant(), dtype::int64) : s.as_value();
    }
    /// A number as a 0-d value of its own dtype.
    template <std::same_as<number> Number>
    [[nodiscard]] value to_value(Number const& n) const {
        return n.is_constant() ? scalar(n.constant(), n.dtype()) : n.as_value();
    }
    /// An attribute of the call as a value, in the body of an operator: 0-d, or 1-d for a list.
    template <class T>
    [[nodiscard]] value to_value(by_reference<T> const& a) const {
        return {*data_, a.append_to(*data_)};
    }

    /// The size of dimension `i` of `x` (negative counts from the end): a constant if it is static, else computed from Shape.
    /// Refuses a value of unknown rank, and a dimension that it does not have.
    /// ```cpp body
    /// size const sizes[] = {g.size(x, 0), -1};
    /// value const flat = g.op<"Reshape">(x, g.ints(sizes)); // a constant shape where the size is static
    /// ```
    [[nodiscard]] sym_int size(value x, std::int64_t i) const {
        if (dim const& d = x.size(i); d.is_static()) return d.size();
        value const whole = is_complex(x.dtype()) ? this->viewed(x) : x;    // dimension i is the same
        value const index = scalar(i < 0 ? i + x.rank() : i, dtype::int64); // before Shape, whatever the compiler
        return value(op<"Gather">(op<"Shape">(whole, call_site()), index, attr::axis_i(0), call_site()));
    }
    /// All dimensions of `x`. Refuses a value of unknown rank.
    [[nodiscard]] safe_vector<sym_int> sizes(value x) const {
        safe_vector<sym_int> all;
        for (std::int64_t i = 0; i != x.rank(); ++i) all.push_back(size(x, i));
        return all;
    }

    /// `x` converted to `target`: `x` itself if it has this dtype, a constant if `x` is one, else a Cast, which refuses complex dtypes.
    /// ```cpp body
    /// value const wide = g.cast(x, promote(x, y)); // a dtype that is known when the model is exported
    /// value const index = g.cast<dtype::int64>(x); // one that the compiler knows: the result has it in its C++ type
    /// ```
    [[nodiscard]] value cast(value x, dtype target, call_site at = call_site::here()) const {
        if (x.dtype() == target) return x;
        if (x.is_constant() && tensor::can_hold(x.dtype()) && tensor::can_hold(target))
            return constant(x.constant().to(target));
        if (is_complex(x.dtype()) || is_complex(target)) throw unsupported_error("ONNX cannot cast complex numbers");
        return op<"Cast">(x, attr::to_i(target), at);
    }

    /// The same with a dtype known at compile time: `g.cast<dtype::float32>(x)`.
    template <dtype Target>
    [[nodiscard]] typed_value<tensors(Target)> cast(value x, call_site at = call_site::here()) const {
        return typed_value<tensors(Target)>(cast(x, Target, at));
    }
    /// `x` converted to the dtype of `y`; a CastLike (opset 15) if that is unknown.
    /// Refuses the call below opset 15 where that dtype is not known.
    [[nodiscard]] value cast_like(value x, value y, call_site at = call_site::here()) const {
        if (y.dtype() != dtype::undefined) return cast(x, y.dtype(), at);
        if (opset_ < 15) throw unsupported_error("a cast to an unknown dtype needs opset 15");
        return within<15>().template op<"CastLike">(x, y, at);
    }
    /// A number as a 0-d value of the dtype of `y`. The reverse is `v.constant<double>()`.
    [[nodiscard]] value scalar_like(aton::scalar number, value y) const { return scalar(number, y.dtype()); }
    template <std::same_as<number> Number>
    [[nodiscard]] value scalar_like(Number const& n, value y) const {
        return scalar(n, y.dtype());
    }
    /// The shape of `x` as a 1-d int64 value: a constant if it is static.
    [[nodiscard]] value shape_of(value x) const {
        if (!x.has_rank()) return op<"Shape">(x, call_site());
        return detail::size_list(*this, sizes(x));
    }

    /// A sequence of tensors of one dtype, from opset 11 on. Refuses an empty one without `type`.
    [[nodiscard]] value sequence(std::span<value const> elements, dtype type = dtype::undefined,
                                 call_site at = call_site::here()) const {
        if (opset_ < 11) throw unsupported_error("a sequence needs opset 11");
        if (!elements.empty()) return within<11>().template op<"SequenceConstruct">(elements, at);
        if (type == dtype::undefined) throw unsupported_error("an empty sequence needs a dtype");
        return within<11>().template op<"SequenceEmpty">(attr::dtype_i(type), at);
    }
    [[nodiscard]] value sequence(std::initializer_list<value> elements, call_site at = call_site::here()) const {
        return sequence(std::span<value const>(elements.begin(), elements.size()), dtype::undefined, at);
    }
    /// The first `count` elements of a sequence.
    [[nodiscard]] safe_vector<value> elements(value sequence, std::size_t count,
                                              call_site at = call_site::here()) const {
        safe_vector<value> all;
        for (std::int64_t i = 0; std::cmp_less(i, count); ++i)
            all.push_back(within<11>().template op<"SequenceAt">(sequence, scalar(i, dtype::int64), at));
        return all;
    }

    /// Refuses a call that the mapping cannot express: `return g.unsupported("antialias with align_corners")`.
    /// ```cpp
    /// inline constexpr auto celu = symbolic<"aten::celu(self, alpha)">([](graph<13> g, value x, double alpha) -> value {
    ///     if (alpha == 0) return g.unsupported("alpha=0, which celu divides by");
    ///     return g.op<"Celu">(x, attr::alpha_f(alpha));
    /// });
    /// ```
    [[nodiscard]] refusal unsupported(std::string_view reason) const { throw unsupported_error(std::string(reason)); }
    /// Leaves the call to the row below, of the next table, plugin or the built-in library, without the body's nodes; refused if there is none.
    /// ```cpp
    /// inline constexpr auto faster = table(override_<"aten::gelu(self, approximate)">([](graph<20> g, value x, std::string_view how) -> value {
    ///     if (x.dtype() != dtype::float16) return g.next(); // everything else as before
    ///     return g.op<"Gelu">(x, attr::approximate_s(how));
    /// }));
    /// ```
    [[nodiscard]] refusal next() const {
        throw declined("the row leaves the call to the row below (g.next()), but there is none");
    }

private:
    graph_data* data_;
    int opset_;
};

/// Whether `g.op<Name>(args...)` is legal in every opset of the graph's range; for tests and constraints.
template <class Graph, fixed_string Name, class... Args>
concept valid_call = Graph::template call<Name, std::remove_cvref_t<Args>...>::legal;

} // namespace ATON_NAMESPACE::dsl
