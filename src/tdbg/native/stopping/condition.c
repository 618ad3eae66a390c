/* A stack machine with three truths. */
#include "stopping/condition.h"

#include <math.h>

/* In the order of capture/condition.py: the numbers of a summary, and what follows from them or is known without. */
enum {
#define NUMBER(name) NUMBER_##name,
  TDBG_EACH_NUMBER(NUMBER, NUMBER)
#undef NUMBER
  INF, MAX_ABS, STEP, ITERATION, BAD, FIELDS
};
enum { EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST, MARKS };

/* NaN when it is not known: no field of a tensor is NaN that could be compared. */
static double value_of(int field, const tdbg_tested *tensor) {
  const tdbg_summary *s = tensor->numbers;
  switch (field) {
    case STEP: return tensor->step;
    case ITERATION: return tensor->iteration;
    case NUMBER_elements: return (double)tensor->elements;
    default: if (!s) return NAN;
  }
  switch (field) {
#define NUMBER(name) case NUMBER_##name: return (double)s->name;
    TDBG_EACH_NUMBER(NUMBER, NUMBER)
#undef NUMBER
    case INF: return (double)(s->pos_inf + s->neg_inf);
    case MAX_ABS: return fmax(fabs(s->min), fabs(s->max));
    default: return tdbg_is_bad(s); /* BAD */
  }
}

static int compare(int mark, double left, double right) {
  if (isnan(left) || isnan(right)) return TDBG_UNKNOWN;
  switch (mark) {
    case EQUAL: return left == right;
    case UNEQUAL: return left != right;
    case LESS: return left < right;
    case AT_MOST: return left <= right;
    case GREATER: return left > right;
    default: return left >= right;
  }
}

static int both(int kind, int left, int right) {
  int ends_it = kind == TDBG_TEST_OR;
  if (left == ends_it || right == ends_it) return ends_it;
  return left == TDBG_UNKNOWN || right == TDBG_UNKNOWN ? TDBG_UNKNOWN : !ends_it;
}

static bool is_field(int32_t field) { return field >= 0 && field < FIELDS; }

bool tdbg_tests_are_valid(const tdbg_test *tests, int count) {
  int depth = 0;
  for (int i = 0; i < count; i++) {
    const tdbg_test *t = &tests[i];
    switch (t->kind) {
      case TDBG_TEST_COMPARE:
        if (t->mark < 0 || t->mark >= MARKS || t->left >= FIELDS || t->right >= FIELDS) return false;
        depth++;
        break;
      case TDBG_TEST_RANGE:
        if (!is_field(t->left)) return false;
        depth++;
        break;
      case TDBG_TEST_CONSTANT:
        depth++;
        break;
      case TDBG_TEST_AND:
      case TDBG_TEST_OR:
        if (--depth < 1) return false;
        break;
      case TDBG_TEST_NOT:
        if (depth < 1) return false;
        break;
      default:
        return false;
    }
    if (depth > TDBG_DEEPEST_TEST) return false;
  }
  return depth == 1;
}

int tdbg_tests_met(const tdbg_test *tests, int count, const tdbg_tested *tensor) {
  int truths[TDBG_DEEPEST_TEST], top = -1;
  for (int i = 0; i < count; i++) {
    const tdbg_test *t = &tests[i];
    double left;
    switch (t->kind) {
      case TDBG_TEST_COMPARE:
        truths[++top] = compare(t->mark, t->left < 0 ? t->a : value_of(t->left, tensor),
                                t->right < 0 ? t->b : value_of(t->right, tensor));
        break;
      case TDBG_TEST_RANGE:
        left = value_of(t->left, tensor);
        truths[++top] = isnan(left) ? TDBG_UNKNOWN : t->a <= left && left < t->b;
        break;
      case TDBG_TEST_CONSTANT:
        truths[++top] = t->mark;
        break;
      case TDBG_TEST_NOT:
        if (truths[top] != TDBG_UNKNOWN) truths[top] = !truths[top];
        break;
      default:
        top--;
        truths[top] = both(t->kind, truths[top], truths[top + 1]);
    }
  }
  return truths[0];
}
