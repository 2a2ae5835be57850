# SPDX-License-Identifier: MIT
# Installs Aton's headers, builds the example against them as a project on its own, without torch, and runs its tests.
# cmake -DWORK=<folder> -DCOMPILER=<c++> -DPYTHON=<python> -DATON=<the command> -P alone.cmake
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(fresh -G Ninja "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release)

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" -S "${root}" -B "${WORK}/aton" ${fresh} -DATON_BUILD_TOOLS=OFF -DATON_BUILD_TESTS=OFF)
run("${CMAKE_COMMAND}" --install "${WORK}/aton" --prefix "${WORK}/installed")
run("${CMAKE_COMMAND}" -S "${root}/examples/custom_op_library" -B "${WORK}/build" ${fresh}
    "-DCMAKE_PREFIX_PATH=${WORK}/installed" -DTorch_DIR=Torch_DIR-NOTFOUND)
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/build" --no-tests=error --output-on-failure)
run("${PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/check.py" "${ATON}" "${WORK}/build/libcustom_ops_onnx.so")
