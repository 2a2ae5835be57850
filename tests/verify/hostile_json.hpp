// SPDX-License-Identifier: MIT
// The JSON of a program with one thing in it changed that no argument says: names, references, kinds, lengths, recorded numbers.
#pragma once

#include <random>
#include <string>

namespace aton::tests {

/// Changes a program's JSON in a few places; it stays JSON.
void change_json(std::string& json, std::mt19937_64& rng);

} // namespace aton::tests
