# SPDX-License-Identifier: MIT
# Kernels of the CPU, compiled for several sets of instructions, of which the program takes the best that its CPU has.
include_guard(GLOBAL)
include(aton_options)
include(CheckCXXSourceCompiles)

option(ATON_KERNEL_VARIANTS "Compile the kernels of the CPU for AVX2 and AVX-512 as well" ON)

# Without optimisation there are no vectors, and functions of the standard library would be compiled for one set of instructions and
# taken for all. Sanitizers see what they look for in the baseline. On Windows GCC keeps wide vectors on a stack that is not aligned for
# them (its bug 54412); MSVC and other CPUs have the baseline alone.
set(aton_kernel_variants OFF)
if(ATON_KERNEL_VARIANTS AND NOT ATON_SANITIZE AND NOT WIN32 AND CMAKE_BUILD_TYPE MATCHES "^Rel" AND
   CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    check_cxx_source_compiles("
        #if !defined(__x86_64__)
        #error other instructions
        #endif
        int main() { return __builtin_cpu_supports(\"avx512vl\"); }" ATON_HAS_X86_VECTORS)
    set(aton_kernel_variants ${ATON_HAS_X86_VECTORS})
endif()

# aton_kernel_objects(target variant OPTIONS ... SOURCES ... LIBRARIES ...): the sources for one set of instructions, into the target.
function(aton_kernel_objects target variant)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPTIONS;SOURCES;LIBRARIES")
    set(name ${target}_${variant})
    add_library(${name} OBJECT ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${name} PRIVATE ATON_KERNEL_VARIANT=${variant})
    # Loops become vectors where no function may set errno and no comparison may trap. Results are the same for every set of
    # instructions but where a function asks for a product and a sum that are rounded once.
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
    # GCC 12 takes the undefined vectors of its own AVX-512 header for a fault (its bug 105593); newer ones are silent.
    set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    aton_kernel_objects(${target} avx2 OPTIONS ${avx2} SOURCES ${arg_AVX2} LIBRARIES ${arg_LIBRARIES})
    aton_kernel_objects(${target} avx512 OPTIONS ${avx512} SOURCES ${arg_AVX512} LIBRARIES ${arg_LIBRARIES})
endfunction()
