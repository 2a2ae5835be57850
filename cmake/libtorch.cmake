# SPDX-License-Identifier: MIT
# Finds libtorch: that of Torch_DIR or CMAKE_PREFIX_PATH, or else that of Python's package torch.
include_guard(GLOBAL)

if(NOT Torch_DIR)
    find_package(Python3 QUIET COMPONENTS Interpreter)
    if(Python3_Interpreter_FOUND)
        execute_process(
            COMMAND "${Python3_EXECUTABLE}" -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
            OUTPUT_VARIABLE aton_torch_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
find_package(Torch REQUIRED HINTS "${aton_torch_folder}")
message(STATUS "libtorch: ${TORCH_INSTALL_PREFIX}")
