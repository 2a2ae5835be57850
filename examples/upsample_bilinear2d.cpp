// SPDX-License-Identifier: MIT
// aten::upsample_bilinear2d as Resize: an attribute selects the coordinate mode, and the output size is joined with batch and channels.
#include <span>

#include "example.hpp"

using namespace aton::dsl;

namespace {

inline constexpr auto resize = table(
    // scales_h and scales_w are not named: a call that gives them is refused.
    symbolic<"aten::upsample_bilinear2d(self, output_size, align_corners)">(
        [](graph<13> g, value self, std::span<sym_int const> output_size, bool align_corners) -> value {
            sym_int const sizes[] = {g.size(self, 0), g.size(self, 1), output_size[0], output_size[1]};
            return g.op<"Resize">(
                self,
                absent,
                absent,
                g.ints(sizes),
                attr::mode_s("linear"),
                attr::coordinate_transformation_mode_s(align_corners ? "align_corners" : "half_pixel"));
        }));

graph_data upsample() {
    graph_data data;
    value const x(data, data.add_input("x", value_type{dtype::float32, {std::string("batch"), 1, 2, 3}}));
    auto const results = convert(data,
                                 *find(resize, "aten::upsample_bilinear2d", 20),
                                 20,
                                 {argument::of_tensor(x), argument::of_numbers({4, 5}), argument::of_number(true)});
    data.outputs = {results[0].single.id()};
    return data;
}

} // namespace

int main(int argc, char** argv) { return example::show(upsample, argc, argv); }
