// SPDX-License-Identifier: MIT
#include "opaque_subclasses.hpp"

namespace ATON_NAMESPACE::pt2 {

std::optional<program::value_index> dequantize_opaque(opaque_weight const& from, std::string& reason) {
    reason = ", which " + (from.user.op.empty() ? std::string("the program returns") : from.user.op + " takes whole") +
             ": turn it into plain tensors before torch.export.export";
    return std::nullopt;
}

} // namespace ATON_NAMESPACE::pt2
