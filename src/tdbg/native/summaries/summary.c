/* Walks a tensor once, block by block through the L1 cache, and merges what the kernels say of each block. */
#include "summaries/summary.h"

#include "summaries/float_mode.h"
#include "summaries/float_values.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define X86_KERNELS 1
#include <immintrin.h>
#endif

enum { BLOCK = 1024, QUICK = 16 };

/* ---- types ------------------------------------------------------------------------------------------------------- */

typedef enum { F32, F64, I32, I64, U64, FORMS } tdbg_form; /* what the block kernels understand */

typedef enum {
    WIDEN_NOT, WIDEN_FLOAT16, WIDEN_BFLOAT16, WIDEN_E4M3FN, WIDEN_E5M2, WIDEN_E4M3FNUZ, WIDEN_E4M3B11FNUZ,
    WIDEN_E5M2FNUZ, WIDEN_INT8, WIDEN_INT16, WIDEN_UINT8, WIDEN_UINT16, WIDEN_UINT32, WIDEN_BOOL, WIDENINGS
} tdbg_widening;

typedef enum { BAD_8, BAD_16, BAD_32, BAD_64, BAD_CHECKS, BAD_NEVER, BAD_NEGATIVE_ZERO } tdbg_bad_check;

typedef struct {
    uint8_t part_size, parts; /* bytes of a real number; how many make an element */
    uint8_t form, widen, bad_check;
    uint64_t exponent_step;
} tdbg_layout;

/* By the codes of tdbg.model.DType; a row of zeros is not a number. */
static const tdbg_layout layouts[] = {
    [1] = {2, 1, F32, WIDEN_FLOAT16, BAD_16, 1 << 10},
    [2] = {2, 1, F32, WIDEN_BFLOAT16, BAD_16, 1 << 7},
    [3] = {4, 1, F32, WIDEN_NOT, BAD_32, 1 << 23},
    [4] = {8, 1, F64, WIDEN_NOT, BAD_64, UINT64_C(1) << 52},
    [5] = {1, 1, F32, WIDEN_E4M3FN, BAD_8, 1}, /* only the last code is a NaN, there is no infinity */
    [6] = {1, 1, F32, WIDEN_E5M2, BAD_8, 1 << 2},
    [7] = {1, 1, F32, WIDEN_E4M3FNUZ, BAD_NEGATIVE_ZERO, 0},
    [8] = {1, 1, F32, WIDEN_E4M3B11FNUZ, BAD_NEGATIVE_ZERO, 0},
    [9] = {1, 1, F32, WIDEN_E5M2FNUZ, BAD_NEGATIVE_ZERO, 0},
    [10] = {4, 2, F32, WIDEN_NOT, BAD_32, 1 << 23},
    [11] = {8, 2, F64, WIDEN_NOT, BAD_64, UINT64_C(1) << 52},
    [12] = {1, 1, I32, WIDEN_INT8, BAD_NEVER, 0},
    [13] = {2, 1, I32, WIDEN_INT16, BAD_NEVER, 0},
    [14] = {4, 1, I32, WIDEN_NOT, BAD_NEVER, 0},
    [15] = {8, 1, I64, WIDEN_NOT, BAD_NEVER, 0},
    [16] = {1, 1, I32, WIDEN_UINT8, BAD_NEVER, 0},
    [17] = {2, 1, I32, WIDEN_UINT16, BAD_NEVER, 0},
    [18] = {4, 1, I64, WIDEN_UINT32, BAD_NEVER, 0},
    [19] = {8, 1, U64, WIDEN_NOT, BAD_NEVER, 0},
    [20] = {1, 1, I32, WIDEN_BOOL, BAD_NEVER, 0},
};

static const tdbg_layout *layout_of(int dtype) {
    const int known = (int)(sizeof layouts / sizeof layouts[0]);
    return dtype > 0 && dtype < known && layouts[dtype].part_size ? &layouts[dtype] : NULL;
}

int tdbg_dtype_size(int dtype) {
    const tdbg_layout *layout = layout_of(dtype);
    return layout ? layout->part_size * layout->parts : 0;
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Keys from zero_low to zero_high are zeros: -0.0 has the float key -1 and +0.0 has 0. */
static const int64_t zero_low[FORMS] = {-1, -1, 0, 0, INT64_MIN};
static const int64_t zero_high[FORMS] = {0, 0, 0, 0, INT64_MIN};
static const int64_t infinity_key[] = {INFINITY_F32, INFINITY_F64};

static double value_of_key(int64_t key, tdbg_form form) {
    /* Adding 0.0 turns -0.0 into 0.0. */
    switch (form) {
        case F32: return value_f32((uint32_t)key_f32((uint32_t)key)) + 0.0;
        case F64: return value_f64((uint64_t)key_f64((uint64_t)key)) + 0.0;
        case U64: return (double)(uint64_t)key_u64((uint64_t)key);
        default: return (double)key;
    }
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t zero_low, zero_high;          /* in */
    int64_t low, high, negative, positive; /* out */
} tdbg_keys;

typedef struct {
    double shift, first, second; /* sum(x - shift), sum((x - shift)^2) */
} tdbg_sums;

typedef struct {
    void (*keys[FORMS])(const void *data, int n, tdbg_keys *out);
    void (*sums[FORMS])(const void *data, int n, tdbg_sums *out);
    int (*pack_finite[2])(const void *data, int n, void *packed, tdbg_summary *out); /* F32 and F64 */
    void (*widen[WIDENINGS])(const void *data, int n, void *wide);
    int (*any_bad[BAD_CHECKS])(const void *data, int n, uint64_t exponent_step);
    uint64_t (*biggest[BAD_CHECKS])(const void *data, int n);
    int (*quick_f32)(const void *data, int n, tdbg_keys *keys, tdbg_sums *sums); /* NULL, or 1 when it could tell */
} tdbg_kernels;

#define KERNEL(name) name##_baseline
#define TARGET
#define VECTOR_BYTES 16
#include "summaries/summary_kernels.h"

#ifdef X86_KERNELS
#define KERNEL(name) name##_avx2
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define VECTOR_BYTES 32
#define F16C
#include "summaries/quick_f32.h"
#include "summaries/summary_kernels.h"

#define KERNEL(name) name##_avx512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#define VECTOR_BYTES 64
#define F16C
#include "summaries/quick_f32.h"
#include "summaries/summary_kernels.h"
#endif

typedef struct {
    const char *name;
    const tdbg_kernels *kernels;
} tdbg_kernel_choice;

/* Best first. */
static const tdbg_kernel_choice choices[] = {
#ifdef X86_KERNELS
    {"avx512", &kernels_avx512},
    {"avx2", &kernels_avx2},
#endif
    {"baseline", &kernels_baseline},
};

static int cpu_runs(const tdbg_kernel_choice *choice) {
#ifdef X86_KERNELS
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    if (choice->kernels == &kernels_avx2) return avx2;
    if (choice->kernels == &kernels_avx512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return choice->kernels == &kernels_baseline;
}

static _Atomic(const tdbg_kernel_choice *) chosen;

static const tdbg_kernel_choice *choice_now(void) {
    const tdbg_kernel_choice *choice = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (choice) return choice;
    for (choice = choices; !cpu_runs(choice); choice++) {
    }
    atomic_store_explicit(&chosen, choice, memory_order_relaxed);
    return choice;
}

const char *tdbg_kernel_name(void) { return choice_now()->name; }

int tdbg_use_kernel(const char *name) {
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (strcmp(choices[i].name, name) == 0 && cpu_runs(&choices[i])) {
            atomic_store_explicit(&chosen, &choices[i], memory_order_relaxed);
            return 0;
        }
    return -1;
}

/* ---- one pass ---------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t n;
    double origin; /* the first value: next to it distances keep the digits that a large offset would take */
    double mean;   /* the mean's distance from origin */
    double m2;     /* the sum of squared distances from the mean */
} tdbg_moments;

/* Chan, Golub and LeVeque: each block has its own centre, so that an outlier costs no digits elsewhere. */
static void merge(tdbg_moments *total, const tdbg_sums *sums, int n) {
    if (total->n == 0) total->origin = sums->shift;
    const double around = sums->first / n, mean = (sums->shift - total->origin) + around;
    double m2 = sums->second - sums->first * around;
    if (m2 < 0) m2 = 0;
    if (total->n == 0) {
        total->n = n, total->mean = mean, total->m2 = m2;
        return;
    }
    const double apart = mean - total->mean, share = (double)n / (double)(total->n + n);
    total->m2 += m2 + apart * apart * share * (double)total->n;
    total->mean += apart * share;
    total->n += n;
}

typedef struct {
    tdbg_moments moments;
    int64_t low, high; /* keys of the extremes */
} tdbg_totals;

/* One block in a form the kernels know; `buffer` is room for what has to be rewritten. */
static void add_block(const tdbg_kernels *kernels, tdbg_form form, const void *block, int n, void *buffer,
                      tdbg_totals *totals, tdbg_summary *out) {
    tdbg_keys keys = {.zero_low = zero_low[form], .zero_high = zero_high[form]};
    tdbg_sums sums;
    const int done = form == F32 && kernels->quick_f32 && n >= QUICK && n % QUICK == 0 &&
                     kernels->quick_f32(block, n, &keys, &sums);
    if (!done) kernels->keys[form](block, n, &keys);
    if (!done && form <= F64 && (keys.high >= infinity_key[form] || keys.low <= ~infinity_key[form])) {
        n = kernels->pack_finite[form](block, n, buffer, out);
        if (n == 0) return;
        block = buffer;
        kernels->keys[form](block, n, &keys);
    }
    if (!done) kernels->sums[form](block, n, &sums);

    out->negative += keys.negative;
    out->positive += keys.positive;
    out->zero += n - keys.negative - keys.positive;
    if (totals->moments.n == 0 || keys.low < totals->low) totals->low = keys.low;
    if (totals->moments.n == 0 || keys.high > totals->high) totals->high = keys.high;
    merge(&totals->moments, &sums, n);
}

/* Squares of doubles beyond 1e154 overflow and those below 1e-154 vanish. */
static int squares_left_range(const tdbg_moments *moments, const tdbg_summary *out) {
    const int overflow = !isfinite(moments->mean) || !isfinite(moments->m2);
    return overflow || (moments->m2 < 0x1p-900 && out->min < out->max);
}

/* The moments once more, of doubles divided by 2^exponent so that all lie within -1 and 1. */
static tdbg_moments scaled_moments(const tdbg_kernels *kernels, const char *data, int64_t n, int exponent) {
    /* In two steps, because 2^-exponent itself can lie outside the doubles. */
    const double half = ldexp(1, -(exponent / 2)), rest = ldexp(1, -(exponent - exponent / 2));
    double buffer[BLOCK];
    tdbg_summary ignored = {0};
    tdbg_moments moments = {0};
    for (int64_t done = 0; done < n; done += BLOCK) {
        const int length = n - done < BLOCK ? (int)(n - done) : BLOCK;
        const int kept = kernels->pack_finite[F64](data + done * (int64_t)sizeof *buffer, length, buffer, &ignored);
        if (kept == 0) continue;
        for (int i = 0; i < kept; i++) buffer[i] = buffer[i] * half * rest;
        tdbg_sums sums;
        kernels->sums[F64](buffer, kept, &sums);
        merge(&moments, &sums, kept);
    }
    return moments;
}

static void finish(const tdbg_kernels *kernels, tdbg_form form, const void *data, int64_t parts, tdbg_totals *totals,
                   tdbg_summary *out) {
    if (totals->moments.n == 0) return;
    out->min = value_of_key(totals->low, form);
    out->max = value_of_key(totals->high, form);
    int exponent = 0;
    if (form == F64 && squares_left_range(&totals->moments, out)) {
        frexp(fmax(fabs(out->min), fabs(out->max)), &exponent);
        totals->moments = scaled_moments(kernels, data, parts, exponent);
    }
    out->mean = totals->moments.origin + totals->moments.mean;
    out->std = totals->moments.m2 == 0 ? 0 : sqrt(totals->moments.m2 / (double)totals->moments.n);
    if (exponent) {
        out->mean = ldexp(out->mean, exponent);
        out->std = fmin(ldexp(out->std, exponent), DBL_MAX);
    }
    /* Rounding may carry the mean past an extreme. */
    if (out->mean < out->min) out->mean = out->min;
    if (out->mean > out->max) out->mean = out->max;
}

int tdbg_summarize(const void *data, int64_t elements, int dtype, tdbg_summary *out) {
    const tdbg_layout *layout = layout_of(dtype);
    if (!layout) return -1;
    /* Field by field: GCC clears a struct of this size with `rep stos`, a fifth of the time of a scalar. */
#define COUNT(name) out->name = 0;
#define STATISTIC(name) out->name = NAN;
    TDBG_EACH_NUMBER(COUNT, STATISTIC)
#undef COUNT
#undef STATISTIC
    out->elements = elements;

    const tdbg_float_mode mode = plain_float_mode();
    const tdbg_kernels *kernels = choice_now()->kernels;
    const tdbg_form form = (tdbg_form)layout->form;
    const int64_t parts = elements * layout->parts;
    uint64_t buffer[BLOCK];
    tdbg_totals totals = {0};
    for (int64_t done = 0; done < parts; done += BLOCK) {
        const int n = parts - done < BLOCK ? (int)(parts - done) : BLOCK;
        const void *block = (const char *)data + done * layout->part_size;
        if (layout->widen != WIDEN_NOT) {
            kernels->widen[layout->widen](block, n, buffer);
            block = buffer;
        }
        add_block(kernels, form, block, n, buffer, &totals, out);
    }
    finish(kernels, form, data, parts, &totals, out);
    restore_float_mode(mode);
    return 0;
}

int tdbg_has_bad(const void *data, int64_t elements, int dtype) {
    const tdbg_layout *layout = layout_of(dtype);
    if (!layout) return -1;
    if (layout->bad_check == BAD_NEVER || elements <= 0) return 0;
    const int64_t parts = elements * layout->parts;
    if (layout->bad_check == BAD_NEGATIVE_ZERO) return memchr(data, 0x80, (size_t)parts) != NULL;

    const tdbg_kernels *kernels = choice_now()->kernels;
    for (int64_t done = 0; done < parts; done += BLOCK) {
        const int n = parts - done < BLOCK ? (int)(parts - done) : BLOCK;
        const char *block = (const char *)data + done * layout->part_size;
        if (kernels->any_bad[layout->bad_check](block, n, layout->exponent_step)) return 1;
    }
    return 0;
}

/* The magnitude whose bits these are, in a layout of floats. */
static double magnitude_of(const tdbg_kernels *kernels, const tdbg_layout *layout, uint64_t bits) {
    uint64_t wide = bits; /* little-endian: a narrower number is at its beginning */
    if (layout->widen != WIDEN_NOT) {
        wide = 0;
        kernels->widen[layout->widen](&bits, 1, &wide);
    }
    if (layout->form == F64) {
        double value;
        memcpy(&value, &wide, sizeof value);
        return value;
    }
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

int tdbg_magnitude(const void *data, int64_t elements, int dtype, double *biggest) {
    const tdbg_layout *layout = layout_of(dtype);
    if (!layout || layout->bad_check >= BAD_CHECKS) return -1;
    const tdbg_kernels *kernels = choice_now()->kernels;
    const int64_t parts = elements * layout->parts;
    const uint64_t sign = (uint64_t)1 << (layout->part_size * 8 - 1);
    uint64_t bits = 0;
    for (int64_t done = 0; done < parts; done += BLOCK) {
        const int n = parts - done < BLOCK ? (int)(parts - done) : BLOCK;
        const uint64_t found = kernels->biggest[layout->bad_check]((const char *)data + done * layout->part_size, n);
        bits = found > bits ? found : bits;
    }
    if ((bits + layout->exponent_step) & sign) return 1;
    *biggest = magnitude_of(kernels, layout, bits);
    return 0;
}
