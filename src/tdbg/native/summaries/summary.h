/* Counts and statistics of a tensor in memory; no Python and no framework is known here. */
#ifndef TDBG_SUMMARY_H
#define TDBG_SUMMARY_H

#include <stdint.h>

#include "summaries/numbers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts are of elements; for complex types `elements` counts complex numbers and the rest their real and imaginary
   parts. min, max, mean and std (population) are of the finite values, NaN when there are none. */
typedef struct {
#define COUNT(name) int64_t name;
#define STATISTIC(name) double name;
    TDBG_EACH_NUMBER(COUNT, STATISTIC)
#undef COUNT
#undef STATISTIC
} tdbg_summary;

/* Whether a NaN or an infinity is there. */
static inline int tdbg_is_bad(const tdbg_summary *summary) {
    return summary->nan || summary->pos_inf || summary->neg_inf;
}

enum { TDBG_BFLOAT16 = 2, TDBG_FLOAT32 = 3, TDBG_FLOAT64 = 4 }; /* some of them, by name */

/* dtype codes are those of tdbg.model.DType; `data` needs no alignment. 0, or -1 when the dtype is not a number. */
int tdbg_summarize(const void *data, int64_t elements, int dtype, tdbg_summary *out);

/* 1 when there is a NaN or an infinity, 0 when there is none, -1 when the dtype is not a number. */
int tdbg_has_bad(const void *data, int64_t elements, int dtype);

/* The same for floats whose NaNs and infinities have the greatest bits (-1 for others), and the greatest magnitude when
   there is none: in one sweep at the same speed. */
int tdbg_magnitude(const void *data, int64_t elements, int dtype, double *biggest);

/* Bytes per element, 0 when the dtype is not a number. */
int tdbg_dtype_size(int dtype);

/* The instruction set in use: "avx512", "avx2" or "baseline". */
const char *tdbg_kernel_name(void);

/* Forces one of them from now on; -1 when this CPU or this build lacks it. */
int tdbg_use_kernel(const char *name);

#ifdef __cplusplus
}
#endif

#endif
