# SPDX-License-Identifier: MIT
# aton_add_plugin(name a.cpp ...): a shared library with ATON_PLUGIN(...) in one of its files, for `aton export --plugin libname.so`.
include_guard(GLOBAL)

function(aton_add_plugin name)
    add_library(${name} MODULE ${ARGN})
    # clang-tidy does not support this option of GCC.
    set_target_properties(${name} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
    target_link_libraries(${name} PRIVATE aton::dsl)
    # A plugin exports only its description, so that tables of the same name in two plugins do not collide.
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_options(${name} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>")
endfunction()
