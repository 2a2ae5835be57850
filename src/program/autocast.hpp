// SPDX-License-Identifier: MIT
// Regions of torch.autocast: a file has the operators inside of them, and the casts that torch makes on the way to these are put in here.
#pragma once

#include <map>
#include <string>

#include <aton/program/program.hpp>

#include "node_emitter.hpp"

namespace ATON_NAMESPACE::program {

/// The regions around a node.
struct autocast_regions {
    std::map<std::string, dtype, std::less<>> enabled; ///< by kind of device: the dtype that it casts to
    bool are_hidden = false;                           ///< the file does not say where they are
};

/// torch before 2.6 wrote no regions: only the recorded dtypes tell that an operator was in one. Any may have been.
[[nodiscard]] autocast_regions hidden_autocast(program const& p);

/// Whether the lists have this node, and its recorded dtypes say that operands were cast.
[[nodiscard]] bool is_cast(program const& p, autocast_regions const& regions, node const& n);

/// The regions inside of a call of wrap_with_autocast (device, dtype, enabled, ...). Throws where the call is malformed.
[[nodiscard]] autocast_regions enter_autocast(program const& p, node const& call, autocast_regions around);

/// Casts the operands of a node as torch does in these regions. Which of its lists an operator is on depends on the device and on the
/// version; the recorded dtype of the result tells what was done. Throws where no list explains it.
void cast_operands(node_emitter& out, autocast_regions const& regions, node& n);

} // namespace ATON_NAMESPACE::program
