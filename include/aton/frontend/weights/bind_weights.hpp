// SPDX-License-Identifier: MIT
// Gives the weights of a program the numbers of other files: safetensors, or state dicts of torch.save.
// Public header.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::weights {

/// {"model.*", "*"}: what a weight of the program is called in the file. `*` stands for any text, the same on both sides. "A+B" on the right
/// means both, joined along the first axis; with `#`, "A.#", all with a number in its place, from 0 on.
using name_rule = std::pair<std::string, std::string>;

/// Where the numbers of weights come from.
struct binding_options {
    std::string from; ///< a safetensors file, a file of torch.save, the index of several, or a folder with one of these
    std::vector<name_rule> rules; ///< tried before the usual ones
    bool converts = false;        ///< floating dtypes may differ, and are converted when the weights are written
};

/// Replaces the data of all parameters, persistent buffers and absent weights that the files have, and describes it in `p.given`. The program
/// keeps the files mapped. Throws aton::error, one line, for weights that have no numbers in the files and none in the program, and for
/// numbers with another shape or dtype.
/// ```cpp
/// #include <aton/frontend/pt2/read_program.hpp>
/// #include <aton/frontend/weights/bind_weights.hpp>
///
/// inline aton::program::program with_checkpoint(std::string const& path, std::string const& checkpoint) {
///     aton::program::program p = aton::pt2::read_program(path);
///     aton::weights::binding_options options;
///     options.from = checkpoint;
///     aton::weights::bind(p, options);
///     return p;
/// }
/// ```
void bind(program::program& p, binding_options const& options);

/// Throws aton::error, which says what gives numbers, if the program has weights without.
void require_numbers(program::program const& p);

} // namespace ATON_NAMESPACE::weights
