// SPDX-License-Identifier: MIT
// The name by which ONNX includes it: MinGW-w64's file has small letters, and Linux tells them apart.
#pragma once
#include <windows.h>
