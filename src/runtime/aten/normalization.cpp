// SPDX-License-Identifier: MIT
// ATen operators: normalization. Narrow dtypes are computed in float32.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compute/normalization.hpp"
#include "runtime/compute/norms.hpp"
#include <aton/core/error.hpp>

#include "normalization.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

axis_list last_axes(call const& c, tensor const& x) {
    std::vector<std::int64_t> const shape = c.ints("normalized_shape");
    bool const fits =
        !shape.empty() && shape.size() <= x.rank() &&
        std::equal(shape.begin(), shape.end(), x.sizes().end() - static_cast<std::ptrdiff_t>(shape.size()));
    if (!fits) throw error("input of shape " + to_string(x.sizes()) + " does not end in " + to_string(shape));
    axis_list axes;
    for (std::size_t i = x.rank() - shape.size(); i != x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    for (std::string_view const name : {"weight", "bias"})
        if (c.has_argument(name) && c.given(name) && c.t(name).sizes() != shape)
            throw error("'" + std::string(name) + "' does not have shape " + to_string(shape));
    return axes;
}

namespace {

/// values * scale + bias in the widest of the dtypes; scale and bias may be empty.
tensor scaled(tensor values, tensor const& scale, tensor const& bias) {
    if (scale) values = *(term(values) * term(in_compute_type(scale)));
    if (bias) values = *(term(values) + term(in_compute_type(bias)));
    return values;
}

tensor none_of(tensor const& x, dtype type) { return tensor::empty(type, {0}, kernels_of(x.where()).memory()); }

/// A vector along the channels of [N, C, ...].
tensor of_channels(tensor const& vector, std::size_t rank) { return vector ? along_axis(vector, rank, 1) : vector; }

/// The statistics of a batch; mean and inverse are rounded to the dtype that they are stored in before use.
struct channel_statistics {
    tensor mean;
    tensor inverse; ///< 1 / sqrt(variance + eps)
    tensor exact_mean;
    tensor unbiased; ///< variance
};
channel_statistics statistics_of(tensor const& x, dtype type, double epsilon) {
    axis_list axes = all_axes(x);
    axes.erase(axes.begin() + 1);
    double const count = static_cast<double>(x.count()) / static_cast<double>(std::max<std::int64_t>(1, x.size(1)));
    auto const rounded = [&](tensor const& t) { return cast(cast(t, type), t.dtype()); };
    tensor const middle = mean(x, axes);
    tensor squares = sum(square(x - of_channels(middle, x.rank())), axes);
    tensor variance = squares / scalar(count);
    tensor const unbiased = squares / scalar(count - 1);
    if (type == dtype::bfloat16)
        variance = rounded(rounded(squares) / scalar(count)); // ATen stores intermediate results as bfloat16
    return {rounded(middle), rounded(scalar(1.0) / sqrt(variance + scalar(epsilon))), middle, unbiased};
}

/// Updates running statistics with those of a batch. bfloat16 is rounded after each operation.
tensor moved(tensor const& running, tensor const& now, double momentum) {
    dtype const type = running.dtype();
    if (type == dtype::bfloat16) {
        term const share = full(momentum, type, {}, running.where());
        return *(term(cast(now, type)) * share + term(running) * (1.0 - share));
    }
    tensor const was = in_compute_type(running);
    return cast(was * scalar(1 - momentum) + cast(now, was.dtype()) * scalar(momentum), type);
}

/// Requires one floating-point element per channel.
void require_parameter(tensor const& t, sizes const& channels) {
    if (t && t.sizes() != channels) throw error("parameters and statistics must have one element per channel");
    if (t && !is_floating(t.dtype())) throw error("parameters and statistics must be floating-point");
}

/// The arguments of an overload of the batch norm family, and what it computes.
class batch_normalization {
public:
    explicit batch_normalization(call const& c)
        : x_(c.t("input")),
          running_mean_(optional(c, "running_mean")),
          running_variance_(optional(c, "running_var")) {
        std::string_view const op = c.overload();
        if (x_.count() == 0 && (op == "aten::batch_norm" || op == "aten::_batch_norm_impl_index")) {
            out_ = x_; // checked first
            return;
        }
        if (x_.rank() < 2) throw error("input must have at least 2 dimensions");
        if (x_.count() == 0) throw error("input has no elements");
        if (!is_floating(x_.dtype())) throw error("input must be floating-point");
        tensor const scale = c.maybe("weight");
        tensor const bias = c.maybe("bias");
        type_ = x_.dtype();
        for (tensor const* t : std::initializer_list<tensor const*>{&running_mean_, &bias, &scale})
            if (*t) type_ = t->dtype();
        for (tensor const* t : std::initializer_list<tensor const*>{&scale, &bias, &running_mean_, &running_variance_})
            require_parameter(*t, {x_.size(1)});
        bool const has_stats = running_mean_ && running_variance_;
        trains_ = c.has_argument("training") ? c.b("training") : op.find("with_update") != std::string_view::npos;
        if (!trains_ && !has_stats) throw error("running statistics are required outside training");
        bool const is_cudnn = c.has_argument("epsilon");
        double const epsilon = c.f(is_cudnn ? "epsilon" : "eps");
        if (trains_) use_batch(c.f(is_cudnn ? "exponential_average_factor" : "momentum"), epsilon);
        else use_running(epsilon);
        tensor const factor = scale ? inverse_ * in_compute_type(scale) : inverse_;
        tensor shift = -(mean_ * factor);
        if (bias) shift = shift + cast(bias, shift.dtype());
        auto const along = [&](tensor const& t) { return of_channels(t, x_.rank()); };
        out_ = cast(cast(x_, factor.dtype()) * along(factor) + along(shift), x_.dtype());
    }

    [[nodiscard]] tensor const& out() const { return out_; }
    [[nodiscard]] tensor saved_mean() const { return trains_ ? cast(mean_, type_) : none_of(x_, type_); }
    [[nodiscard]] tensor saved_inverse() const { return trains_ ? cast(inverse_, type_) : none_of(x_, type_); }
    [[nodiscard]] tensor const& running_mean() const { return running_mean_; }
    [[nodiscard]] tensor const& running_variance() const { return running_variance_; }

    /// The results, including the running statistics if they change.
    [[nodiscard]] results finish(results of) const {
        if (trains_ && running_mean_) of.mutate("running_mean", running_mean_);
        if (trains_ && running_variance_) of.mutate("running_var", running_variance_);
        return of;
    }

private:
    static tensor optional(call const& c, std::string_view name) {
        return c.has_argument(name) ? c.maybe(name) : tensor();
    }

    void use_running(double epsilon) {
        mean_ = in_compute_type(running_mean_);
        inverse_ = scalar(1.0) / sqrt(in_compute_type(running_variance_) + scalar(epsilon));
    }

    void use_batch(double momentum, double epsilon) {
        channel_statistics const s = statistics_of(in_compute_type(x_), type_, epsilon);
        mean_ = s.mean;
        inverse_ = s.inverse;
        if (running_mean_) running_mean_ = moved(running_mean_, s.exact_mean, momentum);
        if (running_variance_) running_variance_ = moved(running_variance_, s.unbiased, momentum);
    }

    tensor x_;
    tensor running_mean_;
    tensor running_variance_;
    dtype type_ = dtype::float32; ///< of the statistics
    bool trains_ = false;
    tensor mean_;
    tensor inverse_; ///< 1 / sqrt(variance + eps)
    tensor out_;
};

tensor no_reserve(call const& c) { return none_of(c.t("input"), dtype::uint8); }

results batch_norm_result(call const& c) {
    batch_normalization const b(c);
    return b.finish(b.out());
}
results native_batch_norm(call const& c) {
    batch_normalization const b(c);
    return b.finish({b.out(), b.saved_mean(), b.saved_inverse()});
}
results batch_norm_functional(call const& c) {
    batch_normalization const b(c);
    return {b.out(), b.saved_mean(), b.saved_inverse(), b.running_mean(), b.running_variance()};
}
results batch_norm_with_update(call const& c) {
    batch_normalization const b(c);
    return b.finish({b.out(), b.saved_mean(), b.saved_inverse(), no_reserve(c)});
}
results batch_norm_with_update_functional(call const& c) {
    batch_normalization const b(c);
    return {b.out(), b.saved_mean(), b.saved_inverse(), no_reserve(c), b.running_mean(), b.running_variance()};
}
results batch_norm_impl_index(call const& c) {
    batch_normalization const b(c);
    return b.finish({b.out(), b.saved_mean(), b.saved_inverse(), no_reserve(c), constant(c, scalar(0), dtype::int64)});
}

/// Normalizes each image separately: batch norm over the channels of all images.
results instance_norm(call const& c) {
    tensor const x = c.t("input");
    if (x.rank() < 2) throw error("input must have at least 2 dimensions");
    if (!is_floating(x.dtype())) throw error("input must be floating-point");
    tensor const running_mean = c.maybe("running_mean");
    tensor const running_variance = c.maybe("running_var");
    tensor const scale = c.maybe("weight");
    tensor const bias = c.maybe("bias");
    for (tensor const* t : std::initializer_list<tensor const*>{&scale, &bias, &running_mean, &running_variance})
        require_parameter(*t, {x.size(1)});
    dtype type = x.dtype();
    for (tensor const* t : std::initializer_list<tensor const*>{&running_mean, &bias, &scale})
        if (*t) type = t->dtype();
    sizes const images = {x.size(0), x.size(1)};
    sizes joined = x.sizes();
    joined[1] *= joined[0];
    joined[0] = 1;
    auto const of_images = [&](tensor const& t) { return reshape(in_compute_type(t).expanded(images), {joined[1]}); };
    tensor const wide_x = reshape(in_compute_type(x), joined);
    channel_statistics s;
    if (c.b("use_input_stats")) {
        s = statistics_of(wide_x, type, c.f("eps"));
    } else {
        if (!running_mean || !running_variance) throw error("running statistics are required");
        s.mean = of_images(running_mean);
        s.inverse = scalar(1.0) / sqrt(of_images(running_variance) + scalar(c.f("eps")));
    }
    tensor const factor = scale ? s.inverse * cast(of_images(scale), s.inverse.dtype()) : s.inverse;
    tensor shift = -(cast(s.mean, factor.dtype()) * factor);
    if (bias) shift = shift + cast(of_images(bias), shift.dtype());
    auto const along = [&](tensor const& t) { return of_channels(t, x.rank()); };
    tensor const out = cast(wide_x, factor.dtype()) * along(factor) + along(shift);
    results all = reshape(cast(out, x.dtype()), x.sizes());
    auto const update = [&](std::string const& name, tensor const& running, tensor const& now) {
        if (!running || !now) return;
        all.mutate(name, mean(moved(running, reshape(now, images), c.f("momentum")), {0}));
    };
    update("running_mean", running_mean, s.exact_mean);
    update("running_var", running_variance, s.unbiased);
    return all;
}

/// The dtype of mean and deviation: that of the parameters.
dtype type_of_statistics(call const& c, tensor const& x) {
    for (std::string_view const name : {"weight", "bias"})
        if (tensor const t = c.maybe(name)) return t.dtype();
    return x.dtype();
}

/// The mean as in ATen: 0 for zero elements.
tensor mean_of(standardized const& s, tensor const& x, dtype type) {
    return x.count() == 0 ? full(0, type, s.mean.sizes(), x.where()) : cast(s.mean, type);
}

results native_layer_norm(call const& c) {
    tensor const x = c.t("input");
    axis_list const axes = last_axes(c, x);
    if (!is_floating(x.dtype())) throw error("input must be floating-point");
    standardized const s = standardize(in_compute_type(x), axes, c.f("eps"));
    dtype const type = type_of_statistics(c, x);
    return {cast(scaled(s.values, c.maybe("weight"), c.maybe("bias")), x.dtype()),
            mean_of(s, x, type),
            cast(s.inverse_deviation, type)};
}
results layer_norm(call const& c) { return native_layer_norm(c).all().results[0]; }

results native_group_norm(call const& c, std::int64_t groups) {
    tensor const x = c.t("input");
    if (!is_floating(x.dtype())) throw error("input must be floating-point");
    standardized const s = standardize_groups(in_compute_type(x), groups, c.f("eps"));
    dtype const type = type_of_statistics(c, x);
    tensor const out =
        scaled(s.values, of_channels(c.maybe("weight"), x.rank()), of_channels(c.maybe("bias"), x.rank()));
    return {cast(out, x.dtype()), mean_of(s, x, type), cast(s.inverse_deviation, type)};
}
results native_group_norm_of_arguments(call const& c) { return native_group_norm(c, c.i("group")); }
results group_norm(call const& c) { return native_group_norm(c, c.i("num_groups")).all().results[0]; }

double epsilon_of(dtype t) {
    return t == dtype::float64 ? std::numeric_limits<double>::epsilon()
                               : static_cast<double>(std::numeric_limits<float>::epsilon());
}

results fused_rms_norm(call const& c) {
    tensor const x = c.t("input");
    axis_list const axes = last_axes(c, x);
    if (!is_floating(x.dtype())) throw error("input must be floating-point");
    double const epsilon = c.maybe_f("eps").value_or(epsilon_of(x.dtype()));
    tensor const inverse = unary(unary_op::rsqrt, mean(square(in_compute_type(x)), axes, true) + scalar(epsilon));
    return {cast(scaled(in_compute_type(x) * inverse, c.maybe("weight"), {}), x.dtype()), inverse};
}
results rms_norm(call const& c) { return fused_rms_norm(c).all().results[0]; }

/// v * (g / norm), with the norm over all axes except one.
results weight_norm_interface(call const& c) {
    tensor const v = c.t("v");
    tensor const g = c.t("g");
    axis_list axes = all_axes(v);
    if (axes.empty()) throw error("v has no dimensions");
    if (std::int64_t const kept = c.i("dim"); kept != -1 || c.overload().find("interface") != std::string_view::npos)
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis_at(kept, v.rank())));
    tensor const size = norm(in_compute_type(v), 2, axes, true);
    return {cast(in_compute_type(v) * (in_compute_type(g) / size), v.dtype()), size};
}
results weight_norm(call const& c) { return weight_norm_interface(c).all().results[0]; }

} // namespace

rows normalization() {
    static constexpr row all[] = {
        {"batch_norm", batch_norm_result},
        {"native_batch_norm", native_batch_norm},
        {"_native_batch_norm_legit", native_batch_norm},
        {"_native_batch_norm_legit.no_stats", native_batch_norm},
        {"_native_batch_norm_legit_no_training", native_batch_norm},
        {"_native_batch_norm_legit_functional", batch_norm_functional},
        {"_batch_norm_with_update", batch_norm_with_update},
        {"_batch_norm_with_update_functional", batch_norm_with_update_functional},
        {"_batch_norm_no_update", batch_norm_with_update},
        {"_batch_norm_impl_index", batch_norm_impl_index},
        {"cudnn_batch_norm", batch_norm_with_update},
        {"instance_norm", instance_norm},
        {"layer_norm", layer_norm},
        {"native_layer_norm", native_layer_norm},
        {"group_norm", group_norm},
        {"native_group_norm", native_group_norm_of_arguments},
        {"rms_norm", rms_norm},
        {"_fused_rms_norm", fused_rms_norm},
        {"_weight_norm", weight_norm},
        {"_weight_norm_interface", weight_norm_interface},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
