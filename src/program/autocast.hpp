// SPDX-License-Identifier: MIT
// Regions of torch.autocast: inserts the casts that torch applies to the operands of the operators in a region, which files do not contain.
#pragma once

#include <map>
#include <string>

#include <aton/program/program.hpp>

#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

/// The autocast regions that enclose a node.
struct autocast_regions {
    std::map<std::string, dtype, std::less<>> enabled; ///< the dtype to cast to, by device type
    bool are_hidden = false;                           ///< the file does not record where the regions are
};

/// The regions of files of torch before 2.6, which does not record them: every operator may be in one, as its recorded dtypes tell.
[[nodiscard]] autocast_regions hidden_autocast(program const& p);

/// Whether the operator is on torch's lists and its recorded dtypes show that its operands were cast.
[[nodiscard]] bool is_cast(program const& p, autocast_regions const& regions, node const& n);

/// The regions inside a call of wrap_with_autocast (device, dtype, enabled, ...). Throws aton::error if the call is malformed.
[[nodiscard]] autocast_regions enter_autocast(program const& p, node const& call, autocast_regions around);

/// Casts the operands of a node as torch does in these regions. Torch's lists depend on the device and the version; the recorded dtype of the
/// result decides which one applies. Throws aton::error if none of them explains it.
void cast_operands(node_emitter& out, autocast_regions const& regions, node& n);

} // namespace ATON_NAMESPACE::program
