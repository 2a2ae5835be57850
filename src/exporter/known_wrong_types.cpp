// SPDX-License-Identifier: MIT
#include "known_wrong_types.hpp"

#include <charconv>
#include <cstdint>

#include "result_types.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

/// How the recorded type differs from the actual one.
enum class fault : std::uint8_t {
    more_dimensions,  ///< an additional dimension of 1
    input_dimensions, ///< all dimensions of the input after those of the result
    sizes,            ///< wrong sizes
    width,            ///< a different dtype of the same kind
};

struct fake_type {
    std::string_view op;
    std::size_t first_result;
    std::size_t last_result;
    fault how;
    int until_minor; ///< the last torch 2.x with this error
};

/// Not fixed in the newest torch that was checked, 2.13.
constexpr int not_fixed = 1'000'000;

constexpr fake_type known[] = {
    // The decomposition that replaces the kernel stacks states that already have the layer dimension.
    {"aten::lstm.input", 1, 2, fault::more_dimensions, 10},
    // 0-d and 1-d inputs, reduction "none": the fake kernel adds a batch dimension.
    {"aten::multi_margin_loss", 0, 0, fault::more_dimensions, not_fixed},
    {"aten::multilabel_margin_loss", 0, 0, fault::more_dimensions, not_fixed},
    {"aten::multilabel_margin_loss_forward", 0, 0, fault::more_dimensions, not_fixed},
    // dim=-1: the fake kernel appends the sizes "after" it, shape[dim + 1:], which are all.
    {"aten::unique_consecutive", 0, 0, fault::input_dimensions, not_fixed},
    // Results that only the backward pass reads have the sizes of the CUDA kernel.
    {"aten::embedding_bag", 1, 3, fault::sizes, not_fixed},
    {"aten::embedding_bag.padding_idx", 1, 3, fault::sizes, not_fixed},
    {"aten::_embedding_bag", 1, 3, fault::sizes, not_fixed},
    {"aten::_embedding_bag_forward_only", 1, 3, fault::sizes, not_fixed},
    // Running statistics of float16 and bfloat16 keep their dtype on the CPU.
    {"aten::_native_batch_norm_legit_functional", 3, 4, fault::width, not_fixed},
    {"aten::_batch_norm_with_update_functional", 4, 5, fault::width, not_fixed},
    // The norms of float16 weights are float32.
    {"aten::_weight_norm_interface", 1, 1, fault::width, not_fixed},
};

/// The x of "2.x..."; 0 for other strings.
int minor_version(std::string_view version) {
    if (!version.starts_with("2.")) return 0;
    int minor = 0;
    std::from_chars(version.data() + 2, version.data() + version.size(), minor);
    return minor;
}

/// Whether removing one dimension of 1 from `longer` gives `shorter`.
bool has_one_more(shape const& longer, shape const& shorter) {
    if (!longer.has_rank() || !shorter.has_rank() || longer.rank() != shorter.rank() + 1) return false;
    auto const fits = [](dim const& a, dim const& b) {
        return !a.is_static() || !b.is_static() || a.size() == b.size();
    };
    for (std::size_t left_out = 0; left_out != longer.rank(); ++left_out) {
        if (!longer[left_out].is(1)) continue;
        bool all = true;
        for (std::size_t i = 0; i != shorter.rank(); ++i)
            all = all && fits(shorter[i], longer[i < left_out ? i : i + 1]);
        if (all) return true;
    }
    return false;
}

/// Whether `longer` has the dimensions of `shorter` followed by as many more.
bool repeats_dimensions(shape const& longer, shape const& shorter) {
    if (!longer.has_rank() || !shorter.has_rank() || longer.rank() != 2 * shorter.rank()) return false;
    for (std::size_t i = 0; i + 1 < shorter.rank(); ++i)
        if (longer[i].is_static() && shorter[i].is_static() && longer[i].size() != shorter[i].size()) return false;
    return true;
}

bool is_fault(fault how, value_type const& given, value_type const& recorded) {
    bool const same_rank =
        given.shape.has_rank() && recorded.shape.has_rank() && given.shape.rank() == recorded.shape.rank();
    switch (how) {
    case fault::more_dimensions: return given.dtype == recorded.dtype && has_one_more(recorded.shape, given.shape);
    case fault::input_dimensions:
        return given.dtype == recorded.dtype && repeats_dimensions(recorded.shape, given.shape);
    case fault::sizes: return given.dtype == recorded.dtype && same_rank && !fits(given, recorded);
    case fault::width: return given.dtype != recorded.dtype && fits(given, recorded);
    }
    return false;
}

} // namespace

bool is_known_wrong_type(std::string_view op, std::size_t result, std::string_view torch_version,
                         value_type const& given, value_type const& recorded) {
    if (given.kind != recorded.kind) return false;
    for (fake_type const& each : known)
        if (each.op == op && result >= each.first_result && result <= each.last_result &&
            minor_version(torch_version) <= each.until_minor && is_fault(each.how, given, recorded))
            return true;
    return false;
}

} // namespace ATON_NAMESPACE::exporter
