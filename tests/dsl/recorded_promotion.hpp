// SPDX-License-Identifier: MIT
// torch.result_type of torch 2.13.0 for every pair of operands: 13 dtypes as tensors with dimensions, the same as 0-d tensors, then the numbers
// True, 2, 0.5 and 1j. A letter is a dtype: a is the first of promoted_dtypes.
#pragma once

#include <string_view>

#include <aton/core/dtype.hpp>

inline constexpr aton::dtype promoted_dtypes[] = {
    aton::dtype::bool_,
    aton::dtype::uint8,
    aton::dtype::int8,
    aton::dtype::int16,
    aton::dtype::int32,
    aton::dtype::int64,
    aton::dtype::float16,
    aton::dtype::bfloat16,
    aton::dtype::float32,
    aton::dtype::float64,
    aton::dtype::complex32,
    aton::dtype::complex64,
    aton::dtype::complex128,
};

inline constexpr std::string_view promoted[] = {
    "abcdefghijklmabcdefghijklmafil", "bbddefghijklmbbbbbbghijklmbbil", "cdcdefghijklmccccccghijklmccil",
    "ddddefghijklmddddddghijklmddil", "eeeeefghijklmeeeeeeghijklmeeil", "ffffffghijklmffffffghijklmffil",
    "gggggggiijklmggggggggggkkkgggk", "hhhhhhihijllmhhhhhhhhhhlllhhhl", "iiiiiiiiijllmiiiiiiiiiillliiil",
    "jjjjjjjjjjmmmjjjjjjjjjjmmmjjjm", "kkkkkkkllmklmkkkkkkkkkkkkkkkkk", "lllllllllmllmlllllllllllllllll",
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmm", "abcdefghijklmabcdefghijklmafil", "bbcdefghijklmbbddefghijklmbbil",
    "cbcdefghijklmcdcdefghijklmccil", "dbcdefghijklmddddefghijklmddil", "ebcdefghijklmeeeeefghijklmeeil",
    "fbcdefghijklmffffffghijklmffil", "ggggggghijklmgggggggiijklmgggk", "hhhhhhghijklmhhhhhhihijllmhhhl",
    "iiiiiighijklmiiiiiiiiijllmiiil", "jjjjjjghijklmjjjjjjjjjjmmmjjjm", "kkkkkkkllmklmkkkkkkkllmklmkkkk",
    "llllllkllmklmlllllllllmllmllll", "mmmmmmkllmklmmmmmmmmmmmmmmmmmm", "abcdefghijklmabcdefghijklmafil",
    "fbcdefghijklmfbcdefghijklmffil", "iiiiiighijklmiiiiiighijklmiiil", "llllllkllmklmllllllkllmklmllll",
};
