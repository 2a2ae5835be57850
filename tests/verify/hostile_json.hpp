// SPDX-License-Identifier: MIT
// Changes the JSON of a program outside the arguments' values: names, references, kinds, lengths, recorded numbers.
#pragma once

#include <random>
#include <string>

namespace aton::tests {

/// Changes a program's JSON in one or two places; it stays valid JSON.
void change_json(std::string& json, std::mt19937_64& rng);

} // namespace aton::tests
