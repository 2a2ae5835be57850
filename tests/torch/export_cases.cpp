// SPDX-License-Identifier: MIT
// export_cases FOLDER: exports every case, and records libtorch's outputs.
#include "cases.hpp"

int main(int count, char** arguments) {
    if (count != 2) return 2;
    torch_test::exporter to{arguments[1]};
    torch_test::add_layers(to);
    torch_test::add_activations(to);
    torch_test::add_pools_and_pads(to);
    torch_test::add_losses(to);
    torch_test::add_sequences(to);
    torch_test::add_models(to);
    torch_test::add_functions(to);
    std::cout << to.count() - to.failures() << " of " << to.count() << " exported\n";
    return to.failures() == 0 ? 0 : 1;
}
