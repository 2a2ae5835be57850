// SPDX-License-Identifier: MIT
// ONNX operators: random numbers. A seed gives the same numbers on every device, but not those of other runtimes.
#include "call.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

tensor normal_numbers(call const& c, sizes const& of, dtype type) {
    tensor const z = normal(of, c.seed(), c.where());
    return cast(z * scalar(c.f("scale", 1)) + scalar(c.f("mean", 0)), type);
}

tensor uniform_numbers(call const& c, sizes const& of, dtype type) {
    double const low = c.f("low", 0);
    return cast(uniform(of, c.seed(), c.where()) * scalar(c.f("high", 1) - low) + scalar(low), type);
}

dtype floating(dtype t) {
    if (!is_floating(t)) throw error("random numbers require a floating-point dtype, not " + std::string(name(t)));
    return t;
}

/// The dtype of the attribute, by default that of the input.
dtype like(call const& c) { return c.type("dtype", c.in(0).dtype()); }

results random_normal(call const& c) {
    return normal_numbers(c, c.ints("shape"), floating(c.type("dtype", dtype::float32)));
}
results random_normal_like(call const& c) { return normal_numbers(c, c.in(0).sizes(), floating(like(c))); }
results random_uniform(call const& c) {
    return uniform_numbers(c, c.ints("shape"), floating(c.type("dtype", dtype::float32)));
}
results random_uniform_like(call const& c) { return uniform_numbers(c, c.in(0).sizes(), floating(like(c))); }

results bernoulli(call const& c) {
    tensor const& p = c.in(0);
    return cast(less(cast(uniform(p.sizes(), c.seed(), c.where()), p.dtype()), p), like(c));
}

// Gumbel-max sampling: the maximum of log-probabilities with Gumbel noise.
results multinomial(call const& c) {
    tensor const& x = c.in(0);
    if (x.rank() != 2 || x.size(1) == 0) throw error("log-probabilities must have shape [batch, classes]");
    std::int64_t const samples = c.i("sample_size", 1);
    tensor const u = uniform({x.size(0), samples, x.size(1)}, c.seed(), c.where());
    tensor const noise = -log(-log(u));
    return cast(arg_max(cast(x, dtype::float32).unsqueezed(1) + noise, 2), c.type("dtype", dtype::int32));
}

tensor ones(dtype type, tensor const& like) { return contiguous(full(1, type, like.sizes(), like.where())); }

/// The data with dropped elements set to 0 and the others scaled, and the mask of kept elements.
results dropped(call const& c, double ratio, dtype mask_type) {
    tensor const& x = c.in(0);
    if (!(ratio >= 0 && ratio <= 1)) throw error("ratio must be between 0 and 1");
    if (ratio == 0) return {x, ones(mask_type, x)};
    tensor const kept = greater_equal(uniform(x.sizes(), c.seed(), c.where()), scalar(ratio));
    bool const narrow = bits(x.dtype()) <= 8; // without arithmetic
    tensor const data = narrow ? cast(x, dtype::float32) : x;
    tensor const out = where(kept, data * scalar(ratio == 1 ? 0 : 1 / (1 - ratio)), scalar(0));
    return {cast(out, x.dtype()), cast(kept, mask_type)};
}

// Training mode is an attribute before opset 7 and an input from opset 12 on; in between there is none. Masks are bools
// from opset 10 on.
results dropout(call const& c) {
    tensor const& x = c.in(0);
    dtype const mask_type = c.opset() < 10 ? x.dtype() : dtype::bool_;
    if (c.opset() < 7 && c.i("is_test", 0) == 0) return dropped(c, c.f("ratio", 0.5), mask_type);
    if (c.opset() >= 12 && c.has(2) && c.number(2).to<bool>()) {
        double const ratio = c.has(1) ? to_host(cast(c.in(1), dtype::float32)).item().to<double>() : 0.5;
        return dropped(c, ratio, mask_type);
    }
    return c.wants(1) ? results{x, ones(mask_type, x)} : results{x};
}

} // namespace

rows random() {
    static constexpr row all[] = {
        {"Bernoulli", bernoulli},
        {"Dropout", dropout},
        {"Multinomial", multinomial},
        {"RandomNormal", random_normal},
        {"RandomNormalLike", random_normal_like},
        {"RandomUniform", random_uniform},
        {"RandomUniformLike", random_uniform_like},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
