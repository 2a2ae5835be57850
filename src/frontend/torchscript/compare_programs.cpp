// SPDX-License-Identifier: MIT
// Whether two programs compute the same: values that are computed alike get the same name, and then the outputs are compared.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <unordered_map>

#include <aton/program/text_writer.hpp>

#include "module_state.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

std::string_view base_name(std::string_view op) { return op.substr(0, op.find('.')); }

template <std::size_t N>
bool is_one_of(std::string_view op, std::array<std::string_view, N> const& all) {
    return std::find(all.begin(), all.end(), base_name(op)) != all.end();
}

constexpr std::array<std::string_view, 3> makers_of_zeros{"aten::zeros", "aten::new_zeros", "aten::zeros_like"};
/// Operators whose result is zeros if their operands are.
constexpr std::array<std::string_view, 22> keep_zeros{
    "aten::alias",     "aten::cat",       "aten::clone",     "aten::contiguous", "aten::detach",  "aten::expand",
    "aten::flatten",   "aten::narrow",    "aten::permute",   "aten::repeat",     "aten::reshape", "aten::select",
    "aten::slice",     "aten::squeeze",   "aten::stack",     "aten::t",          "aten::to",      "aten::tile",
    "aten::transpose", "aten::unflatten", "aten::unsqueeze", "aten::view"};
constexpr std::string_view zeros = "#zeros:";

/// Whether a type has a symbol such as "u7", which stands for different numbers in different programs.
bool depends_on_data(std::string_view type) {
    for (std::size_t i = 1; i + 1 < type.size(); ++i)
        if (type[i] == 'u' && std::isalnum(static_cast<unsigned char>(type[i - 1])) == 0 &&
            std::isdigit(static_cast<unsigned char>(type[i + 1])) != 0)
            return true;
    return false;
}

/// Gives the values of a program names that say how they are computed.
class canonical_names {
public:
    canonical_names(program::program const& p, std::unordered_map<std::string, std::string>& classes)
        : p_(p),
          to_(p_),
          classes_(classes) {}

    /// False if the program has nodes of which this is not known.
    bool name_values() {
        for (program::input const& in : p_.inputs)
            if (in.value != program::no_value) name(in.value, "input " + in.target);
        for (program::node const& n : p_.main.nodes) {
            if (!is_plain(n)) return false;
            name_results(n);
        }
        return true;
    }

    std::string outputs() {
        for (program::argument const& a : p_.main.outputs) {
            to_.separate();
            to_.value_of(a);
        }
        for (program::output const& out : p_.outputs) to_.plain(' ' + out.target);
        return to_.take();
    }

private:
    /// Whether a node only computes new values.
    static bool is_plain(program::node const& n) {
        constexpr std::string_view random[] = {"rand", "bernoulli", "normal", "multinomial", "dropout", "poisson"};
        bool const is_eval = std::any_of(n.arguments.begin(), n.arguments.end(), [](program::argument const& a) {
            return a.name == "train" && a.kind == program::argument_kind::number && !a.number.is_computed() &&
                   a.number.constant == scalar(false);
        });
        bool const draws = !is_eval && std::any_of(std::begin(random), std::end(random), [&](std::string_view each) {
            return n.op.find(each) != std::string::npos;
        });
        bool const is_known = n.kind == program::node_kind::python || !n.schema.empty();
        return is_known && !draws && n.kind != program::node_kind::higher_order &&
               n.schema.find('!') == std::string_view::npos;
    }

    void name(program::value_index v, std::string const& key) {
        auto const found = classes_.try_emplace(key, '#' + std::to_string(classes_.size())).first;
        p_.values[v].name = key.starts_with(zeros) ? key : found->second;
    }

    /// Whether the result is zeros if the operands are: the negative of a floating zero is another one.
    [[nodiscard]] bool keeps(program::node const& n) const {
        if (base_name(n.op) != "aten::neg") return is_one_of(n.op, keep_zeros);
        return !n.results.empty() && !n.results[0].values.empty() &&
               is_integral(p_.values[n.results[0].values[0]].type);
    }

    void name_results(program::node const& n) {
        bool operands_are_zeros = true;
        bool any_tensor = false;
        to_.plain(n.op);
        for (program::argument const& a : n.arguments) {
            to_.plain(' ' + a.name + '=');
            to_.value_of(a);
            if (a.kind != program::argument_kind::tensor && a.kind != program::argument_kind::tensors) continue;
            program::for_each_value(a, [&](program::value_index v) {
                any_tensor = true;
                operands_are_zeros = operands_are_zeros && p_.values[v].name.starts_with(zeros);
            });
        }
        std::string const text = to_.take();
        bool const makes_zeros = is_one_of(n.op, makers_of_zeros) || (any_tensor && operands_are_zeros && keeps(n));
        std::size_t i = 0;
        for (program::result const& r : n.results)
            for (program::value_index const v : r.values) {
                to_.type(v);
                std::string const type = to_.take();
                bool const is_size = p_.values[v].symbolic.has_value();
                bool const is_open = depends_on_data(type);
                name(v,
                     makes_zeros && !is_open ? std::string(zeros) + type
                     : is_size && !is_open   ? "size " + type
                                             : text + " result " + std::to_string(i++));
            }
    }

    program::program p_;
    program::text_writer to_;
    std::unordered_map<std::string, std::string>& classes_;
};

} // namespace

bool compute_the_same(program::program const& a, program::program const& b) {
    std::unordered_map<std::string, std::string> classes;
    canonical_names first(a, classes);
    canonical_names second(b, classes);
    if (!first.name_values() || !second.name_values()) return program::to_string(a) == program::to_string(b);
    return first.outputs() == second.outputs();
}

} // namespace ATON_NAMESPACE::torchscript
