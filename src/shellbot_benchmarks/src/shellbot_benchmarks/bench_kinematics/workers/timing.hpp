// SPDX-License-Identifier: MIT
// Processor time of a piece of code: the best of five rounds, ns per call, as "name value" on a line.
#pragma once
#include <algorithm>
#include <cstdio>
#include <ctime>

static double cpu() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

template <class Function> static void measure(const char *name, double seconds, double each, Function &&f) {
  f();
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    long count = 0;
    const double begin = cpu();
    double now = begin;
    while (now - begin < seconds / 5) {
      f();
      ++count;
      now = cpu();
    }
    best = std::min(best, (now - begin) / count / each);
  }
  std::printf("%s %.3f\n", name, 1e9 * best);
}
