/* Tells whether the numbers of one tensor meet a condition, without Python.

   A condition is the part of an expression (tdbg/expressions.py) that is left when everything known of the op has been
   decided: instructions in postfix order over a stack of truths that may be unknown. capture/condition.py writes it. */
#ifndef TDBG_CONDITION_H
#define TDBG_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "summaries/summary.h"

enum { TDBG_TEST_COMPARE, TDBG_TEST_RANGE, TDBG_TEST_CONSTANT, TDBG_TEST_AND, TDBG_TEST_OR, TDBG_TEST_NOT };
enum { TDBG_UNKNOWN = -1, TDBG_FALSE = 0, TDBG_TRUE = 1 };
enum { TDBG_DEEPEST_TEST = 64 };

/* 32 bytes. A comparison is of `left` and `right`, fields by their numbers, where -1 stands for the constants a and b; a
   range is a <= left < b; a constant is `mark`. */
typedef struct {
  int32_t kind, mark, left, right;
  double a, b;
} tdbg_test;

typedef struct {
  const tdbg_summary *numbers; /* NULL: not a type of numbers */
  int64_t elements;
  int32_t step, iteration;
} tdbg_tested;

/* Whether these are instructions that can be followed. */
bool tdbg_tests_are_valid(const tdbg_test *tests, int count);
/* TDBG_TRUE, TDBG_FALSE or TDBG_UNKNOWN. */
int tdbg_tests_met(const tdbg_test *tests, int count, const tdbg_tested *tensor);

#endif
