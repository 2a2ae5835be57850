# SPDX-License-Identifier: MIT
# CPU kernels, compiled for several instruction sets; the program selects the best one that its CPU supports.
include_guard(GLOBAL)
include(aton_options)
include(CheckCXXSourceCompiles)

option(ATON_KERNEL_VARIANTS "Also compile the CPU kernels for AVX2 and AVX-512" ON)

# Without optimization nothing is vectorized, and inline functions of the standard library that are compiled for one instruction set
# would be linked into all. Sanitizers only need the baseline. On Windows, GCC keeps wide vectors on a stack that is not aligned for them
# (GCC bug 54412); MSVC and other CPUs only get the baseline.
set(aton_kernel_variants OFF)
if(ATON_KERNEL_VARIANTS AND NOT ATON_SANITIZE AND NOT WIN32 AND CMAKE_BUILD_TYPE MATCHES "^Rel" AND
   CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    check_cxx_source_compiles("
        #if !defined(__x86_64__)
        #error not x86-64
        #endif
        int main() { return __builtin_cpu_supports(\"avx512vl\"); }" ATON_HAS_X86_VECTORS)
    set(aton_kernel_variants ${ATON_HAS_X86_VECTORS})
endif()

# aton_kernel_objects(target variant OPTIONS ... SOURCES ... LIBRARIES ...): compiles the sources for one instruction set into the target.
function(aton_kernel_objects target variant)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPTIONS;SOURCES;LIBRARIES")
    set(name ${target}_${variant})
    add_library(${name} OBJECT ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${name} PRIVATE ATON_KERNEL_VARIANT=${variant})
    # Loops are vectorized if functions need not set errno and comparisons need not trap. Results are the same for every instruction
    # set, except where a function explicitly uses a fused multiply-add.
    target_compile_options(${name} PRIVATE
        "$<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-ffp-contract=off;-fno-math-errno;-fno-trapping-math>" ${arg_OPTIONS})
    target_link_libraries(${name} PRIVATE aton::aton aton_options ${arg_LIBRARIES})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

# aton_add_kernels(target SOURCES all.cpp ... AVX2 some.cpp ... AVX512 some.cpp ... LIBRARIES targets...)
function(aton_add_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;AVX2;AVX512;LIBRARIES")
    aton_kernel_objects(${target} baseline SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
    if(NOT aton_kernel_variants)
        return()
    endif()
    target_compile_definitions(${target} PRIVATE ATON_KERNEL_VARIANTS)
    set(avx2 -mavx2 -mfma)
    # GCC 12 warns about undefined vectors in its own AVX-512 header (GCC bug 105593); later versions do not.
    set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    aton_kernel_objects(${target} avx2 OPTIONS ${avx2} SOURCES ${arg_AVX2} LIBRARIES ${arg_LIBRARIES})
    aton_kernel_objects(${target} avx512 OPTIONS ${avx512} SOURCES ${arg_AVX512} LIBRARIES ${arg_LIBRARIES})
endfunction()
