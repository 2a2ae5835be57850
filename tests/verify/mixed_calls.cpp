// SPDX-License-Identifier: MIT
// Changes dtypes of operands, and reads and writes the recorded dtypes.
#include "mixed_calls.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using kind = aten::argument_kind;
using runtime::tensor;

constexpr std::string_view letters = "bucsilhgfdxz"; // of mixed_types, in order
static_assert(letters.size() == mixed_types.size());

tensor& at(sample& s, operand_place const& p) {
    runtime::aten_argument& a = s.arguments[p.argument];
    return p.element ? a.tensors[*p.element] : a.tensor;
}

/// The middle element, which is rarely a special value.
tensor one_element(tensor const& x) {
    return runtime::reshape(runtime::reshape(x, {x.count()}).sliced(0, x.count() / 2, 1), {});
}

/// Casts with saturation, so that sorted elements stay sorted.
tensor narrowed(tensor const& x, dtype to) {
    if (x.dtype() != dtype::float32 || (to != dtype::bool_ && !(is_integral(to) && bits(to) < 32)))
        return runtime::cast(x, to);
    double const max = to == dtype::bool_ ? 1 : std::exp2(bits(to) - (is_signed_integral(to) ? 1 : 0)) - 1;
    double const min = is_signed_integral(to) ? -max - 1 : 0;
    return runtime::cast(runtime::clamp(x, min, max), to);
}

/// Operators for which Python accepts a number instead of a tensor (torch/csrc/utils/python_arg_parser.cpp).
constexpr std::string_view accept_numbers = "add sub subtract mul multiply div divide true_divide floor_divide copy";

bool is_type_of_numbers(dtype t) {
    return t == dtype::bool_ || t == dtype::int64 || t == dtype::float64 || t == dtype::complex128;
}

} // namespace

std::vector<operand_place> operands_of(sample const& s) {
    std::vector<operand_place> out;
    for (std::size_t i = 0; i != s.arguments.size(); ++i) {
        if (s.arguments[i].kind == kind::tensor) out.push_back({i, {}});
        for (std::size_t k = 0; k != s.arguments[i].tensors.size(); ++k)
            if (s.arguments[i].tensors[k]) out.push_back({i, k});
    }
    return out;
}

std::string text_of(sample const& s, operand_place const& p) {
    std::string const& name = s.arguments[p.argument].name;
    return p.element ? name + '[' + std::to_string(*p.element) + ']' : name;
}

std::optional<sample> mixed(sample const& drawn, operand_place const& one, operand_kind is, std::size_t pair) {
    dtype const first = mixed_types[pair / mixed_types.size()];
    dtype const second = mixed_types[pair % mixed_types.size()];
    sample s = drawn;
    for (operand_place const& p : operands_of(drawn)) {
        tensor& x = at(s, p);
        bool const is_the_one = p.argument == one.argument && p.element == one.element;
        if (is_the_one) x = narrowed(x, first);
        else if (x.dtype() == dtype::float32) x = narrowed(x, second); // the rule does not fix its dtype
    }
    if (is == operand_kind::dimensioned) return s;
    tensor& x = at(s, one);
    if (x.rank() == 0 || x.count() == 0) return {};
    x = one_element(x);
    if (is == operand_kind::zero_dim) return s;
    if (one.element || !is_type_of_numbers(first) || !names(accept_numbers, s.overload)) return {};
    runtime::aten_argument& a = s.arguments[one.argument];
    a = runtime::aten_argument::of_number(x.item()).named(a.name);
    return s;
}

char letter_of(dtype t) {
    auto const found = std::find(mixed_types.begin(), mixed_types.end(), t);
    return found == mixed_types.end() ? '-' : letters[static_cast<std::size_t>(found - mixed_types.begin())];
}

std::string_view name_of_letter(char letter) {
    std::size_t const i = letters.find(letter);
    return i == std::string_view::npos ? "another dtype" : name(mixed_types[i]);
}

std::vector<recorded_operand> read_mixed_types(std::string const& path) {
    std::ifstream file(path);
    if (!file) throw error("cannot read " + path);
    std::vector<pair_letters> pool;
    std::vector<recorded_operand> out;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        auto const require = [&](bool right) {
            if (!right) throw error(path + ", line " + std::to_string(number) + ": malformed");
        };
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        if (line.size() == pair_count && line.find(' ') == std::string::npos) {
            std::copy(line.begin(), line.end(), pool.emplace_back().begin());
            continue;
        }
        recorded_operand& each = out.emplace_back();
        require(static_cast<bool>(words >> each.overload >> each.operand));
        for (pair_letters& of : each.letters) {
            std::size_t index = 0;
            require(static_cast<bool>(words >> index) && index < pool.size());
            of = pool[index];
        }
    }
    return out;
}

void write_mixed_types(std::string const& path, std::vector<recorded_operand> const& all) {
    std::vector<pair_letters> pool;
    std::ostringstream rows;
    for (recorded_operand const& each : all) {
        rows << each.overload << ' ' << each.operand;
        for (pair_letters const& of : each.letters) {
            auto found = std::find(pool.begin(), pool.end(), of);
            if (found == pool.end()) found = pool.insert(pool.end(), of);
            rows << ' ' << found - pool.begin();
        }
        rows << '\n';
    }
    std::ofstream file(path);
    file << "# The dtypes of ATen's results (torch 2.13.0) if one operand has another dtype than the others. Written "
            "by\n"
            "# verify_mixed_types --record, where torch is installed. First come lists of result dtypes for all pairs, "
            "then\n"
            "# for each operand the numbers of its lists: with dimensions, 0-d, and as a Python number. A pair is the\n"
            "# operand's dtype, then that of the others, from bool to complex128. The letters b u c s i l h g f d x z "
            "are\n"
            "# these dtypes, a point is a call that ATen rejects, and ? a call whose dtype depends on other "
            "arguments.\n";
    for (pair_letters const& of : pool) file << std::string_view(of.data(), of.size()) << '\n';
    file << rows.str();
    if (!file) throw error("cannot write " + path);
}

} // namespace ATON_NAMESPACE::verify
