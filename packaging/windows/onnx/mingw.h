// SPDX-License-Identifier: MIT
// Included before every source of ONNX: a function of Microsoft's C library that MinGW-w64's msvcrt lacks. Aton never sets another locale than C.
#pragma once
#include <stdlib.h>
#define _strtof_l(text, end, locale) strtof(text, end)
