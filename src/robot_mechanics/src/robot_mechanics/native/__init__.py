# SPDX-License-Identifier: MIT
"""What is particular to numba and LLVM: compilation and its cache, kernels, lanes, threads."""
