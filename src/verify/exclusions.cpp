// SPDX-License-Identifier: MIT
// Calls that are not compared, and known-equivalent mutants, each with its reason.
#include <aton/verify/check.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

constexpr char const* fourier_transforms =
    "fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_hfft2 "
    "fft_ihfft2 fft_fftn fft_ifftn fft_rfftn fft_irfftn fft_hfftn fft_ihfftn _fft_c2c _fft_r2c _fft_c2r stft "
    "stft.center istft prims::fft_c2c prims::fft_r2c prims::fft_c2r rewrite::recompose.stft";

constexpr char const* gamma_functions =
    "lgamma special_gammaln digamma special_digamma special_psi mvlgamma special_multigammaln prims::lgamma "
    "prims::digamma";

constexpr char const* polynomials =
    "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
    "special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
    "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_hermite_polynomial_h "
    "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p";

constexpr char const* chebyshev =
    "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
    "special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
    "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w";

constexpr char const* cuda_attention = "_scaled_dot_product_flash_attention _scaled_dot_product_cudnn_attention";
constexpr char const* fused_attention =
    "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention "
    "_scaled_dot_product_flash_attention _scaled_dot_product_cudnn_attention";

} // namespace

std::span<exclusion const> known_exclusions() {
    static constexpr exclusion all[] = {
        {"empty empty_like new_empty empty_strided new_empty_strided empty_permuted prims::empty prims::empty_strided "
         "prims::empty_permuted",
         "",
         "the elements are uninitialized"},
        {"grid_sampler_3d",
         "float16",
         "ATen computes positions in float16, GridSample in float32: a different neighbor may be nearest"},
        {"grid_sampler_3d",
         "bfloat16",
         "ATen computes positions in bfloat16, GridSample in float32: a different neighbor may be nearest"},
        {fourier_transforms,
         "special",
         "where infinities and huge numbers cancel depends on the order of the sums, which ATen leaves to libraries"},
        {"logit special_logit", "float16", "ATen rounds x / (1 - x) on the CPU, the row only rounds its logarithm"},
        {"logit special_logit", "bfloat16", "the same"},
        {"special_ndtr", "float16", "ATen rounds 1 + erf(x), which cancels where the result is small"},
        {"special_ndtr", "bfloat16", "the same"},
        {"addmv",
         "float16",
         "whether ATen rounds the product before the sum depends on the memory layout of the matrix"},
        {"_batch_norm_with_update_functional _batch_norm_with_update _native_batch_norm_legit_functional",
         "bfloat16",
         "where running statistics cancel, the remainder depends on how often each side rounds"},
        {"_euclidean_dist", "special", "ATen expands the square: NaN if it overflows or an element is infinite"},
        {"_euclidean_dist", "float16", "ATen expands the square, which cancels where distances are small"},
        {"_euclidean_dist", "bfloat16", "the same"},
        {"mode", "special", "ATen sorts and counts with < and !=, which leave the position of NaN undefined"},
        {"torchvision::roi_align torchvision::ps_roi_align torchvision::deform_conv2d",
         "special",
         "whether an infinite pixel of weight 0 makes a sample NaN depends on which pixels an implementation reads"},
        {"nll_loss nll_loss_nd nll_loss2d nll_loss_forward nll_loss2d_forward",
         "float16",
         "ATen adds in float16 on the CPU, where the sum of large losses overflows"},
    };
    return all;
}

std::span<omitted_result const> known_omissions() noexcept {
    static constexpr omitted_result all[] = {
        {fused_attention, 1, "", "the logarithms of the sums are only needed for the gradient"},
        {fused_attention, 2, "", "the seed and the offset of the dropout are only needed for the gradient"},
        {fused_attention, 3, "", "the same"},
        {cuda_attention, 6, "", "the same"},
        {cuda_attention, 7, "", "the same"},
        {cuda_attention, 8, "", "the mask is for debugging"},
        {"_ctc_loss _ctc_loss.Tensor", 1, "", "the probabilities of prefixes are only needed for the gradient"},
        {"_unique _unique2 unique_consecutive", 1, "no elements", "indices that are not asked for"},
        {"_unique2 unique_consecutive", 2, "no elements", "counts that are not asked for"},
    };
    return all;
}

std::span<equivalent_mutant const> known_equivalents() {
    static constexpr equivalent_mutant all[] = {
        {"", "argument cudnn_enabled: ", "which library computes, not what"},
        {"", "argument cudnn_enable: ", "the same"},
        {"", "argument benchmark: ", "the same"},
        {"", "argument deterministic: ", "the same"},
        {"", "argument allow_tf32: ", "the same"},
        {"", "argument use_fast_accum: ", "how a GPU rounds sums"},
        {"", "argument requires_grad: ", "concerns gradients only"},
        {"", "argument sparse_grad: ", "the same"},
        {"", "argument scale_grad_by_freq: ", "the same"},
        {"", "argument sparse: ", "the same"},
        {"", "argument check_errors: ", "whether ATen raises an error, of a call that has none"},
        {"", "argument unsafe: ", "whether ATen checks its arguments, which are right"},
        {"", "argument copy: ", "whether the result may share memory"},
        {"", "argument implicit: ", "whether a functional transformation inserted the call"},
        {"", "argument assume_unique: ", "lets ATen choose a faster way to the same result"},
        {"", "argument return_debug_mask: ", "without dropout, the mask is empty"},
        {"", "argument dim: reversed", "the order of reduced axes does not matter"},
        {"", "argument dims: reversed", "the same"},
        {"", "argument return_inverse: false taken for true", "a row may compute results that are not asked for"},
        {"", "argument return_counts: false taken for true", "the same"},
        {"", "argument compute_log_sumexp: ", "the sums are for gradients"},
        {"", "argument enable_gqa: ", "it allows groups of heads, which the sizes show"},
        {"cdist _cdist_forward", "argument compute_mode: 0 taken for 2", "they differ for more than 25 rows only"},
        {"cdist _cdist_forward", "argument compute_mode: 2 taken for 0", "the same"},
        {"searchsorted.Tensor searchsorted.Scalar", "argument sorter: ignored", "few edges are counted in any order"},
        {"mse_loss_backward smooth_l1_loss_backward huber_loss_backward soft_margin_loss_backward "
         "binary_cross_entropy_backward",
         "argument reduction: 2 taken for 0",
         "the gradient of a sum is that of each element"},
        {"mse_loss_backward smooth_l1_loss_backward huber_loss_backward soft_margin_loss_backward "
         "binary_cross_entropy_backward",
         "argument reduction: 0 taken for 2",
         "the same"},
        {"leaky_relu_backward rrelu_with_noise_backward",
         "argument self_is_result: ",
         "with a positive slope, the result has the sign of its argument"},
        {"max_pool2d_with_indices_backward max_pool3d_with_indices_backward max_unpool3d",
         "argument ",
         "the indices say where an element came from"},
        {"native_group_norm native_group_norm_backward", "argument HxW: ", "the sizes of the input say it"},
        {"native_group_norm native_group_norm_backward", "argument N: ", "the same"},
        {"embedding", "argument padding_idx: ", "concerns gradients only"},
        {"lstm.input gru.input rnn_tanh.input rnn_relu.input lstm.data gru.data rnn_tanh.data rnn_relu.data",
         "argument dropout: ",
         "without training there is no dropout; with both, the row refuses the call"},
        {"lstm.input gru.input rnn_tanh.input rnn_relu.input lstm.data gru.data rnn_tanh.data rnn_relu.data",
         "argument train: ",
         "the same"},
        {"empty_strided new_empty_strided prims::empty_strided _reshape_alias _reshape_alias_copy prims::uniform "
         "prims::copy_strided",
         "argument stride",
         "tensors of ONNX have no strides"},
        {"empty_permuted prims::empty_permuted", "argument physical_layout: ", "the same"},
        {"batch_norm _batch_norm_impl_index instance_norm native_batch_norm _native_batch_norm_legit_no_training "
         "_batch_norm_no_update",
         "argument momentum: ",
         "it updates running statistics, which the call does not return"},
        {"_native_batch_norm_legit.no_stats", "argument momentum: ", "there are no running statistics"},
        {fourier_transforms, "DFT: axis negated", "of four axes with that of the parts, axis 2 is also axis -2"},
        {"rand rand_like uniform prims::uniform", "Cast: to int64", "the integers are at most 2048"},
        {"rand rand_like uniform prims::uniform", "Cast: to float16", "the same: float16 represents them all"},
        {"rand rand_like uniform prims::uniform",
         "Cast: to float32",
         "keeps bits of a fraction that half-precision dtypes round away; the numbers stay within their tolerance"},
        {"corrcoef", "Clip: left out", "correlations are outside -1 to 1 by rounding errors only"},
        {"corrcoef", "Clip: without input 1", "the same"},
        {"corrcoef", "Clip: without input 2", "the same"},
        {"corrcoef", "Constant: one less, input 1 of Clip", "the same"},
        {"corrcoef", "Constant: one more, input 2 of Clip", "the same"},
        {"corrcoef",
         "Max: left out",
         "the number of observations divides all covariances, so it cancels in correlations"},
        {"corrcoef", "Sub: left out", "the same"},
        {"corrcoef", "Sub: replaced by", "the same"},
        {"corrcoef", "Constant: one less, input 1 of Sub", "the same"},
        {"corrcoef", "Constant: zero, input 1 of Sub", "the same"},
        {"corrcoef", "Constant: negated, input 1 of Sub", "the same"},
        {"gcd lcm prims::gcd",
         "Loop: inputs 2 and 3 swapped",
         "the greatest common divisor does not depend on the order"},
        {"gcd lcm prims::gcd",
         "Loop: without input 0",
         "the condition ends the loop; the limit is for runtimes that want one"},
        {"gcd lcm prims::gcd",
         "Constant: one less, input 0 of Loop",
         "only consecutive Fibonacci numbers take all steps"},
        {"gcd lcm prims::gcd", "Constant: one more, input 0 of Loop", "the same"},
        {"gcd lcm prims::gcd", "Loop: without input 1", "further steps change nothing"},
        {"gcd lcm prims::gcd",
         "Expand: left out",
         "the operators in the loop broadcast; the state keeps one shape for runtimes"},
        {polynomials,
         "Expand: left out",
         "the operators in the loop broadcast; the state keeps one shape for runtimes"},
        {polynomials, "Equal: replaced by GreaterOrEqual", "its result is used only for degrees that are not positive"},
        {polynomials, "Cast: to int32", "degrees are far from its limits"},
        {polynomials, "Cast: to int64", "degrees are converted to int64 in the end"},
        {chebyshev, "Greater: ", "the angle and the recurrence give the same numbers, so that either may be used"},
        {chebyshev, "Less: ", "the same"},
        {chebyshev, "Constant: zero, input 1 of Greater", "the same"},
        {chebyshev, "Constant: negated, input 1 of Greater", "the same"},
        {chebyshev, "Constant: one less, input 1 of Greater", "the same"},
        {chebyshev, "Constant: one more, input 1 of Greater", "the same"},
        {chebyshev, "Constant: zero, input 1 of Less", "the same"},
        {chebyshev, "Constant: negated, input 1 of Less", "the same"},
        {chebyshev, "Constant: one less, input 1 of Less", "the same"},
        {chebyshev, "Constant: negated, input 1 of Mul", "the cosine is even, and a quotient of two sines is, too"},
        {"lcm", "Constant: one more, input 1 of Where", "the divisor of 0: any number but 0 has the quotient 0"},
        {"lcm", "Constant: negated, input 1 of Where", "the same"},
        {"lcm", "Constant: zero, input 1 of Where", "0 / 0 is 0 in this runtime and an error in others"},
        {"lcm", "Constant: one less, input 1 of Where", "the same"},
        {"lcm", "Constant: one less, input 1 of Equal", "the same"},
        {"lcm", "Equal: replaced by Less", "the same"},
        {"lstm.input rnn_relu.input rnn_tanh.input",
         "Concat: inputs 0 and 1 swapped",
         "the halves of the bias are added by LSTM and RNN"},
        {"mode cummax cummin",
         "Constant: zero, input 2 of Where",
         "the position that loses to all others in ReduceMax: 0, the first one, loses as well"},
        {"mode cummax cummin", "Constant: one more, input 2 of Where", "the same"},
        {"mode cummax cummin", "Constant: one less, input 2 of Where", "the same: -2 also loses to all others"},
        {"mode",
         "Constant: one less, input 1 of ReduceSum",
         "the matrix of pairwise equality is symmetric: row sums equal column sums"},
        {"cummax cummin",
         "Constant: one less, input 1 of Unsqueeze",
         "the last position that holds the extreme of its prefix also holds the extreme of this prefix"},
        {"cummax", "Equal: replaced by GreaterOrEqual", "no element of the prefix is beyond its extreme"},
        {"cummin", "Equal: replaced by LessOrEqual", "the same"},
        {"nanquantile nanmedian",
         "Max: left out",
         "the position is negative if all elements are NaN, and then any of them is the result; -1 is the last"},
        {"nanquantile nanmedian", "Constant: one less, input 1 of Max", "the same"},
        {"zero zeros_like new_zeros empty_like new_empty",
         "Concat: inputs 0 and 1 swapped",
         "the real and the imaginary part of zeros are equal"},
        {"histc", "Constant: one less, input 2 of Where", "elements outside the range add 0 to any bin"},
        {"histc", "Constant: one more, input 2 of Where", "the same"},
        {gamma_functions,
         "Constant: zero, input 0 of Mul",
         "the last term of Stirling's series is below 1e-10 from 8 on: no dtype of these rows can represent it"},
        {gamma_functions, "Constant: negated, input 0 of Mul", "the same"},
        {"mvlgamma special_multigammaln",
         "Round: replaced by",
         "the sine of pi (y - n) is the same for every integer n up to its sign, which is discarded; y = x - j/2 is "
         "at "
         "least 2^-25 from an integer, a distance that float64 represents"},
        {"ldexp.Tensor",
         "Constant: negated, input 0 of Pow",
         "a third of the exponent is the power of a factor that is squared: its sign is lost"},
        {"ldexp.Tensor",
         "Cast: to",
         "Pow accepts exponents of any dtype: these are integers up to 702, which every dtype represents"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d",
         "Clip: ",
         "weights of the triangle filter are non-negative and add up to 1: nothing is outside 0 to 255"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d", "Constant: one more, input 2 of Clip", "the same"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d",
         "ReduceSum: replaced by ReduceL1",
         "weights of the triangle filter are non-negative"},
        {"upsample_linear1d_backward upsample_bilinear2d_backward upsample_trilinear3d_backward "
         "upsample_bicubic2d_backward",
         "Constant: one less, input 2 of Pad",
         "the zero behind the last output has the weight 0"},
        {"upsample_linear1d_backward upsample_bilinear2d_backward upsample_trilinear3d_backward "
         "upsample_bicubic2d_backward",
         "Constant: one more, input 2 of Pad",
         "the same"},
        {"_amp_foreach_non_finite_check_and_unscale", "Or: replaced by Xor", "no number is both NaN and infinite"},
        {"trunc fix div.Tensor_mode div.Scalar_mode divide.Tensor_mode divide.Scalar_mode lerp.Tensor quantile "
         "nanquantile "
         "smooth_l1_loss huber_loss log1p special_log1p special_xlog1py erfc special_erfc special_ndtr special_erfcx "
         "special_log_ndtr i0 special_i0 special_i0e special_i1 special_i1e special_modified_bessel_i0 "
         "special_modified_bessel_i1 lgamma special_gammaln digamma special_digamma special_psi mvlgamma "
         "special_multigammaln prims::trunc prims::div prims::log1p prims::erfc prims::erfcx prims::bessel_i0 "
         "prims::bessel_i0e prims::bessel_i1 prims::bessel_i1e prims::lgamma prims::digamma",
         "Less: replaced by LessOrEqual",
         "the boundary between two formulas, which agree there"},
        {"elu selu celu", "Less: replaced by LessOrEqual", "both branches are 0 at 0"},
        {gamma_functions,
         "Constant: one more, input 1 of Less",
         "the product and Stirling's series are both accurate from 7 to 9: the boundary may be anywhere in between"},
        {gamma_functions, "Constant: one less, input 1 of Less", "the same"},
        {gamma_functions,
         "Constant: zero, input 1 of Less",
         "the reflection and the product are both accurate from 0 to 1/2"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d _upsample_bicubic2d_aa upsample_bicubic2d _upsample_lanczos2d_aa",
         "Constant: one less, input 1 of Clip",
         "in fixed point, -1, 0 and 1 are all rounded to 0"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d _upsample_bicubic2d_aa upsample_bicubic2d _upsample_lanczos2d_aa",
         "Constant: one more, input 1 of Clip",
         "the same"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d _upsample_bicubic2d_aa upsample_bicubic2d _upsample_lanczos2d_aa",
         "Constant: one less, input 2 of Clip",
         "in fixed point, everything between 255 and 256 is 255"},
        {"torchao::choose_qparams_affine",
         "Clip: ",
         "the range includes 0, whose number is within quant_min and quant_max"},
        {"torchao::choose_qparams_affine", "Constant: one more, input 2 of Clip", "the same"},
        {"torchao::choose_qparams_affine", "Constant: one less, input 1 of Clip", "the same"},
        {"torchao::choose_qparams_affine",
         "Greater: replaced by GreaterOrEqual",
         "both scales are the same where they are equal"},
        {"col2im", "Constant: one more, input 2 of Pad", "a stride of 1 pads nothing between elements"},
        {"col2im", "Constant: one less, input 2 of Pad", "the same"},
        {"_dyn_quant_matmul_4bit",
         "Greater: ",
         "both ends of the range give the same zero point, except for the rounding of floats"},
        {"_dyn_quant_matmul_4bit", "Constant: zero, input 1 of Greater", "the same"},
        {"_dyn_quant_matmul_4bit", "Constant: one more, input 1 of Greater", "the same"},
        {"_dyn_quant_matmul_4bit", "Constant: one less, input 1 of Greater", "the same"},
        {"_dyn_quant_matmul_4bit", "Constant: negated, input 1 of Greater", "the same"},
        {"rewrite::tensorrt.non_zero", "Cast: to bool", "the places of numbers that are not 0 are asked for"},
        {"rewrite::tensorrt.non_zero", "Cast: to float16", "the same: no integer is 0 in float16"},
        {"rewrite::tensorrt.non_zero", "Cast: to int64", "the same: bools and integers are not changed"},
    };
    return all;
}

} // namespace ATON_NAMESPACE::verify
