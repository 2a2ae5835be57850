// SPDX-License-Identifier: MIT
// ATen operators: im2col and col2im.
#include "runtime/compute/spatial.hpp"

#include "axes.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

window window_of(call const& c) {
    window w = window::of(c.ints("kernel_size"));
    w.strides = c.ints("stride");
    w.dilations = c.ints("dilation");
    w.before = w.after = c.ints("padding");
    check(w, 2);
    return w;
}

/// [N, C, H, W] to [N, C * patch, number of patches].
results im2col(call const& c) {
    tensor const x = c.t("self");
    if (x.rank() != 3 && x.rank() != 4) throw error("an image is expected, not " + to_string(x.sizes()));
    tensor const batch = x.rank() == 3 ? x.unsqueezed(0) : x;
    constexpr std::size_t patch_first[] = {0, 1, 4, 5, 2, 3};
    tensor const all = windows(batch, window_of(c)).permuted(patch_first);
    tensor const out = reshape(
        all, {x.rank() == 3 ? 1 : x.size(0), all.size(1) * all.size(2) * all.size(3), all.size(4) * all.size(5)});
    return x.rank() == 3 ? out.squeezed(0) : out;
}

results col2im(call const& c) {
    tensor const x = c.t("self");
    if (x.rank() != 2 && x.rank() != 3) throw error("columns are expected, not " + to_string(x.sizes()));
    window const w = window_of(c);
    sizes const to = c.ints("output_size");
    if (to.size() != 2) throw error("an image must have two sizes");
    (void)count_of(to);
    tensor const batch = x.rank() == 2 ? x.unsqueezed(0) : x;
    sizes counts; // number of patches per axis
    for (std::size_t i = 0; i != 2; ++i) {
        std::int64_t const slack = to[i] + w.before[i] + w.after[i] - w.extent(i);
        if (to[i] <= 0 || slack < 0) throw error("the kernel is larger than " + to_string(to));
        counts.push_back(slack / w.strides[i] + 1);
    }
    std::int64_t const patch = count_of(w.kernel);
    if (batch.size(1) % patch != 0 || batch.size(2) != count_of(counts))
        throw error("columns of shape " + to_string(x.sizes()) + " do not fill " + to_string(to));
    tensor const parts =
        reshape(batch, {batch.size(0), batch.size(1) / patch, w.kernel[0], w.kernel[1], counts[0], counts[1]});
    constexpr std::size_t patch_last[] = {0, 1, 4, 5, 2, 3};
    tensor const out = fold(parts.permuted(patch_last), w, to); // each addition is rounded, for float16 too
    return x.rank() == 2 ? out.squeezed(0) : out;
}

} // namespace

rows patches() {
    static constexpr row all[] = {{"im2col", im2col}, {"col2im", col2im}};
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
