// SPDX-License-Identifier: MIT
// What is not compared, and mutants that are no other function: each with its reason.
#include <aton/verify/check.hpp>

namespace ATON_NAMESPACE::verify {

std::span<exclusion const> known_exclusions() {
    static constexpr exclusion all[] = {
        {"rand rand_like randn randn_like randint randint_like randperm bernoulli multinomial normal uniform",
         "",
         "random numbers: their distribution is the same, their order is not"},
        {"empty empty_like new_empty empty_strided new_empty_strided empty_permuted", "", "elements are not set"},
        {"max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices "
         "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d",
         "special",
         "MaxPool passes over NaN, ATen gives NaN; a mask would cost every pool four nodes"},
        {"grid_sampler_3d",
         "float16",
         "ATen computes places in float16, GridSample in float32: another neighbour may be nearer"},
        {"grid_sampler_3d",
         "bfloat16",
         "ATen computes places in bfloat16, GridSample in float32: another neighbour may be nearer"},
        {"logit special_logit", "float16", "ATen rounds x / (1 - x) on the CPU, the row its logarithm alone"},
        {"logit special_logit", "bfloat16", "the same"},
        {"special_ndtr", "float16", "ATen rounds 1 + erf(x), which loses the digits of small results"},
        {"special_ndtr", "bfloat16", "the same"},
        {"addmv", "float16", "ATen rounds the product before the sum or not, as the matrix lies in memory"},
        {"_batch_norm_with_update_functional _batch_norm_with_update _native_batch_norm_legit_functional",
         "bfloat16",
         "what is left of running statistics that cancel depends on how often each side rounds"},
        {"_euclidean_dist", "special", "ATen expands the square: NaN where it overflows, or a number is infinite"},
        {"_euclidean_dist", "float16", "ATen expands the square, which loses the digits of small distances"},
        {"_euclidean_dist", "bfloat16", "the same"},
        {"mode", "special", "ATen orders and counts by < and !=, which make the place of NaN a matter of chance"},
        {"nll_loss nll_loss_nd nll_loss2d nll_loss_forward nll_loss2d_forward",
         "float16",
         "ATen adds in float16 on the CPU, where the sum of large losses is infinite"},
    };
    return all;
}

std::span<equivalent_mutant const> known_equivalents() {
    static constexpr equivalent_mutant all[] = {
        {"argmax argmin",
         "ReduceMax: taken for ReduceMin",
         "asks whether there is a NaN: a guard for runtimes whose ArgMax passes over NaN, which this one does not"},
        {"lstm.input rnn_relu.input rnn_tanh.input",
         "Concat: inputs 0 and 1 swapped",
         "the halves of the bias, which LSTM and RNN add"},
        {"mode cummax cummin",
         "Constant: zero, input 2 of Where",
         "the place that loses to all others, of which ReduceMax takes the last: the first one, 0, loses as well"},
        {"mode cummax cummin", "Constant: one more, input 2 of Where", "the same"},
        {"mode cummax cummin", "Constant: one less, input 2 of Where", "the same: -2 loses to all others, too"},
        {"mode",
         "Constant: one less, input 1 of ReduceSum",
         "which elements are equal to which is a symmetric table: its rows and its columns have the same sums"},
        {"cummax cummin",
         "Constant: one less, input 1 of Unsqueeze",
         "the last place that holds the extreme of all up to it holds that of all up to here"},
        {"cummax", "Equal: taken for GreaterOrEqual", "nothing up to here is beyond the extreme"},
        {"cummin", "Equal: taken for LessOrEqual", "the same"},
        {"max.dim min.dim",
         "ReduceMax: taken for ReduceMin",
         "asks whether there is a NaN: a guard for runtimes whose ArgMax passes over NaN, which this one does not"},
        {"nanquantile nanmedian",
         "Max: left out",
         "the place is below 0 where all are NaN, of which any is the result; -1 is the last"},
        {"nanquantile nanmedian", "Constant: one less, input 1 of Max", "the same"},
        {"histc", "Constant: one less, input 2 of Where", "what is outside counts 0 in whatever bin"},
        {"histc", "Constant: one more, input 2 of Where", "the same"},
        {"lgamma special_gammaln digamma special_digamma special_psi mvlgamma special_multigammaln",
         "Constant: zero, input 0 of Mul",
         "the last term of Stirling's series, which is below 1e-10 from 8 on: no dtype that these rows take has it"},
        {"lgamma special_gammaln digamma special_digamma special_psi mvlgamma special_multigammaln",
         "Constant: negated, input 0 of Mul",
         "the same"},
        {"mvlgamma special_multigammaln",
         "Round: taken for",
         "the sine of pi (y - n) is the same for every whole number n, up to its sign, which is lost; y = x - j/2 is "
         "at "
         "least 2^-25 from a whole number, a distance that float64 represents"},
        {"ldexp.Tensor",
         "Constant: negated, input 0 of Pow",
         "a third of the exponent is the power of a factor that counts twice: its sign is lost"},
        {"ldexp.Tensor",
         "Cast: to",
         "Pow takes exponents of any dtype: these are whole numbers up to 702, which each of them holds"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d",
         "Clip: ",
         "weights of the triangle are not negative and add up to 1: nothing is outside of 0 and 255"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d", "Constant: one more, input 2 of Clip", "the same"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d",
         "ReduceSum: taken for ReduceL1",
         "weights of the triangle are not negative"},
        {"trunc fix div.Tensor_mode div.Scalar_mode divide.Tensor_mode divide.Scalar_mode lerp.Tensor quantile "
         "nanquantile "
         "smooth_l1_loss huber_loss log1p special_log1p special_xlog1py erfc special_erfc special_ndtr special_erfcx "
         "special_log_ndtr i0 special_i0 special_i0e special_i1 special_i1e special_modified_bessel_i0 "
         "special_modified_bessel_i1 lgamma special_gammaln digamma special_digamma special_psi mvlgamma "
         "special_multigammaln",
         "Less: taken for LessOrEqual",
         "the border between two formulas, which agree at it"},
        {"elu selu celu", "Less: taken for LessOrEqual", "both branches are 0 at 0"},
        {"lgamma special_gammaln digamma special_digamma special_psi mvlgamma special_multigammaln",
         "Constant: one more, input 1 of Less",
         "from 7 to 9 the product and Stirling's series both hold: the border may be anywhere between them"},
        {"lgamma special_gammaln digamma special_digamma special_psi mvlgamma special_multigammaln",
         "Constant: one less, input 1 of Less",
         "the same"},
        {"lgamma special_gammaln digamma special_digamma special_psi mvlgamma special_multigammaln",
         "Constant: zero, input 1 of Less",
         "from 0 to 1/2 the reflection and the product both hold"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d _upsample_bicubic2d_aa upsample_bicubic2d _upsample_lanczos2d_aa",
         "Constant: one less, input 1 of Clip",
         "in fixed point -1, 0 and 1 are all rounded to 0"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d _upsample_bicubic2d_aa upsample_bicubic2d _upsample_lanczos2d_aa",
         "Constant: one more, input 1 of Clip",
         "the same"},
        {"_upsample_bilinear2d_aa upsample_bilinear2d _upsample_bicubic2d_aa upsample_bicubic2d _upsample_lanczos2d_aa",
         "Constant: one less, input 2 of Clip",
         "in fixed point all that lies between 255 and 256 is 255"},
    };
    return all;
}

} // namespace ATON_NAMESPACE::verify
