/* Loops over one block of elements, written once; summary.c includes this file per instruction set, with KERNEL(name)
   to name its functions, TARGET to compile them for the set, and F16C where the CPU converts float16 itself.

   Elements are read with memcpy, so blocks may be unaligned. Signs, zeros, extremes and NaNs are read off "keys":
   integers that stand in the order of the values. No float comparison is made: with denormals-are-zero set, as
   TensorFlow does in its threads, a subnormal would compare equal to zero. */

/* ---- keys: counts and extremes of one block, by type ------------------------------------------------------------- */

#define DEFINE_KEYS(TYPE, BITS, KEY_T, KEY)                                                                           \
    TARGET static void KERNEL(keys_##TYPE)(const void *data, int n, tdbg_keys *out) {                                 \
        const char *bytes = data;                                                                                     \
        const KEY_T below = (KEY_T)out->zero_low, above = (KEY_T)out->zero_high;                                      \
        KEY_T low = above, high = below, negative = 0, positive = 0;                                                  \
        if (n > 0) {                                                                                                  \
            BITS first;                                                                                               \
            memcpy(&first, bytes, sizeof first);                                                                      \
            low = high = KEY(first);                                                                                  \
        }                                                                                                             \
        for (int i = 0; i < n; i++) {                                                                                 \
            BITS bits;                                                                                                \
            memcpy(&bits, bytes + (size_t)i * sizeof bits, sizeof bits);                                              \
            const KEY_T key = KEY(bits);                                                                              \
            low = key < low ? key : low;                                                                              \
            high = key > high ? key : high;                                                                           \
            negative += key < below;                                                                                  \
            positive += key > above;                                                                                  \
        }                                                                                                             \
        out->low = low, out->high = high, out->negative = negative, out->positive = positive;                         \
    }

DEFINE_KEYS(f32, uint32_t, int32_t, key_f32)
DEFINE_KEYS(f64, uint64_t, int64_t, key_f64)
DEFINE_KEYS(i32, int32_t, int32_t, key_same)
DEFINE_KEYS(i64, int64_t, int64_t, key_same)
DEFINE_KEYS(u64, uint64_t, int64_t, key_u64)

/* ---- pack_finite: the finite values of a block to `packed`, which may be the block; the others are counted ------- */

#define DEFINE_PACK(TYPE, BITS, KEY_T, INFINITY_KEY)                                                                  \
    TARGET static int KERNEL(pack_##TYPE)(const void *data, int n, void *packed, tdbg_summary *out) {                 \
        const char *bytes = data;                                                                                     \
        char *target = packed;                                                                                        \
        KEY_T neg_inf = 0, pos_inf = 0;                                                                               \
        BITS bits;                                                                                                    \
        for (int i = 0; i < n; i++) {                                                                                 \
            memcpy(&bits, bytes + (size_t)i * sizeof bits, sizeof bits);                                              \
            const KEY_T key = key_##TYPE(bits);                                                                       \
            neg_inf += key == ~INFINITY_KEY;                                                                          \
            pos_inf += key == INFINITY_KEY;                                                                           \
        }                                                                                                             \
        for (int i = 0; i < n; i++) {                                                                                 \
            memcpy(&bits, bytes + (size_t)i * sizeof bits, sizeof bits);                                              \
            memcpy(target, &bits, sizeof bits);                                                                       \
            target += (BITS)(bits << 1) < (BITS)INFINITY_KEY << 1 ? sizeof bits : 0;                                  \
        }                                                                                                             \
        const int kept = (int)((size_t)(target - (char *)packed) / sizeof bits);                                      \
        out->neg_inf += neg_inf;                                                                                      \
        out->pos_inf += pos_inf;                                                                                      \
        out->nan += n - kept - neg_inf - pos_inf;                                                                     \
        return kept;                                                                                                  \
    }

DEFINE_PACK(f32, uint32_t, int32_t, INFINITY_F32)
DEFINE_PACK(f64, uint64_t, int64_t, INFINITY_F64)

/* ---- sums: first and second moment of one finite block around its first element ---------------------------------- */

/* Explicit vectors, because C fixes the order of float additions; for other compilers a vector is one double. */
#ifdef __GNUC__
typedef double KERNEL(vector) __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef double KERNEL(vector);
#endif

enum { KERNEL(width) = sizeof(KERNEL(vector)) / sizeof(double) };

/* `distances` has room for one more vector than n, which is filled with zeros here. */
TARGET static inline void KERNEL(add_up)(double *distances, int n, tdbg_sums *out) {
    const KERNEL(vector) zeros = {0};
    KERNEL(vector) d, first[4] = {zeros, zeros, zeros, zeros}, second[4] = {zeros, zeros, zeros, zeros};
    double lanes[2][KERNEL(width)];
    int i = 0;
    memcpy(distances + n, &zeros, sizeof zeros);
    for (; i + 4 * KERNEL(width) <= n; i += 4 * KERNEL(width))
        for (int j = 0; j < 4; j++) {
            memcpy(&d, distances + i + j * KERNEL(width), sizeof d);
            first[j] += d;
            second[j] += d * d;
        }
    for (; i < n; i += KERNEL(width)) {
        memcpy(&d, distances + i, sizeof d);
        first[0] += d;
        second[0] += d * d;
    }
    first[0] = (first[0] + first[1]) + (first[2] + first[3]);
    second[0] = (second[0] + second[1]) + (second[2] + second[3]);
    memcpy(lanes[0], first, sizeof lanes[0]);
    memcpy(lanes[1], second, sizeof lanes[1]);
    out->first = out->second = 0;
    for (i = 0; i < KERNEL(width); i++) {
        out->first += lanes[0][i];
        out->second += lanes[1][i];
    }
}

#define DEFINE_SUMS(TYPE, BITS, VALUE)                                                                                \
    TARGET static void KERNEL(sums_##TYPE)(const void *data, int n, tdbg_sums *out) {                                 \
        const char *bytes = data;                                                                                     \
        double distances[BLOCK + KERNEL(width)];                                                                     \
        BITS bits;                                                                                                    \
        memcpy(&bits, bytes, sizeof bits);                                                                            \
        const double shift = VALUE(bits);                                                                             \
        for (int i = 0; i < n; i++) {                                                                                 \
            memcpy(&bits, bytes + (size_t)i * sizeof bits, sizeof bits);                                              \
            distances[i] = VALUE(bits) - shift;                                                                       \
        }                                                                                                             \
        out->shift = shift;                                                                                           \
        KERNEL(add_up)(distances, n, out);                                                                            \
    }

DEFINE_SUMS(f32, uint32_t, value_f32)
DEFINE_SUMS(f64, uint64_t, value_f64)
DEFINE_SUMS(i32, int32_t, (double))
DEFINE_SUMS(i64, uint64_t, value_i64)
DEFINE_SUMS(u64, uint64_t, value_u64)

/* ---- widen: one block of a narrow type into float32, int32 or int64 ---------------------------------------------- */

#define DEFINE_WIDEN(TYPE, NARROW, WIDE, CONVERT)                                                                     \
    TARGET static void KERNEL(widen_##TYPE)(const void *data, int n, void *restrict wide) {                           \
        const char *bytes = data;                                                                                     \
        WIDE *out = wide;                                                                                             \
        for (int i = 0; i < n; i++) {                                                                                 \
            NARROW value;                                                                                             \
            memcpy(&value, bytes + (size_t)i * sizeof value, sizeof value);                                           \
            out[i] = (WIDE)CONVERT(value);                                                                            \
        }                                                                                                             \
    }

#define E4M3FN(code) small_float(code, 7, 3, 7, 0x7f)
#define E5M2(code) small_float(code, 7, 2, 15, 0x7c)
#define E4M3FNUZ(code) unsigned_zero_float(code, 3, 8)
#define E4M3B11FNUZ(code) unsigned_zero_float(code, 3, 11)
#define E5M2FNUZ(code) unsigned_zero_float(code, 2, 16)
#define FLOAT16(code) small_float(code, 15, 10, 15, 0x7c00)
#define BFLOAT16(code) ((uint32_t)(code) << 16)

DEFINE_WIDEN(bfloat16, uint16_t, uint32_t, BFLOAT16)
DEFINE_WIDEN(e4m3fn, uint8_t, uint32_t, E4M3FN)
DEFINE_WIDEN(e5m2, uint8_t, uint32_t, E5M2)
DEFINE_WIDEN(e4m3fnuz, uint8_t, uint32_t, E4M3FNUZ)
DEFINE_WIDEN(e4m3b11fnuz, uint8_t, uint32_t, E4M3B11FNUZ)
DEFINE_WIDEN(e5m2fnuz, uint8_t, uint32_t, E5M2FNUZ)
DEFINE_WIDEN(int8, int8_t, int32_t, )
DEFINE_WIDEN(int16, int16_t, int32_t, )
DEFINE_WIDEN(uint8, uint8_t, int32_t, )
DEFINE_WIDEN(uint16, uint16_t, int32_t, )
DEFINE_WIDEN(uint32, uint32_t, int64_t, )
DEFINE_WIDEN(bool, uint8_t, int32_t, 0 !=)

#ifdef F16C
TARGET static void KERNEL(widen_float16)(const void *data, int n, void *restrict wide) {
    const uint16_t *half = data;
    uint32_t *out = wide;
    int i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps((float *)out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(half + i))));
    for (; i < n; i++) {
        uint16_t code;
        memcpy(&code, half + i, sizeof code);
        out[i] = FLOAT16(code);
    }
}
#else
DEFINE_WIDEN(float16, uint16_t, uint32_t, FLOAT16)
#endif

#undef E4M3FN
#undef E5M2
#undef E4M3FNUZ
#undef E4M3B11FNUZ
#undef E5M2FNUZ
#undef FLOAT16
#undef BFLOAT16

/* ---- any_bad: is there an exponent of all ones? ------------------------------------------------------------------ */

/* Adding `step`, one unit of the exponent, carries into the cleared sign bit only from an exponent of all ones. */
#define DEFINE_ANY_BAD(WIDTH)                                                                                         \
    TARGET static int KERNEL(any_bad_##WIDTH)(const void *data, int n, uint64_t step) {                               \
        typedef uint##WIDTH##_t word;                                                                                 \
        const char *bytes = data;                                                                                     \
        const word sign = (word)((word)1 << (WIDTH - 1)), magnitude = (word)(sign - 1), unit = (word)step;            \
        word carried = 0;                                                                                             \
        for (int i = 0; i < n; i++) {                                                                                 \
            word bits;                                                                                                \
            memcpy(&bits, bytes + (size_t)i * sizeof bits, sizeof bits);                                              \
            carried |= (word)((bits & magnitude) + unit);                                                             \
        }                                                                                                             \
        return (carried & sign) != 0;                                                                                 \
    }

DEFINE_ANY_BAD(8)
DEFINE_ANY_BAD(16)
DEFINE_ANY_BAD(32)
DEFINE_ANY_BAD(64)

/* ---- biggest: the bits of the greatest magnitude; without the sign, floats have the order of their bits ---------- */

#define DEFINE_BIGGEST(WIDTH)                                                                                         \
    TARGET static uint64_t KERNEL(biggest_##WIDTH)(const void *data, int n) {                                         \
        typedef uint##WIDTH##_t word;                                                                                 \
        const char *bytes = data;                                                                                     \
        const word magnitude = (word)(((word)1 << (WIDTH - 1)) - 1);                                                  \
        word biggest = 0;                                                                                             \
        for (int i = 0; i < n; i++) {                                                                                 \
            word bits;                                                                                                \
            memcpy(&bits, bytes + (size_t)i * sizeof bits, sizeof bits);                                              \
            bits &= magnitude;                                                                                        \
            biggest = bits > biggest ? bits : biggest;                                                                \
        }                                                                                                             \
        return biggest;                                                                                               \
    }

DEFINE_BIGGEST(8)
DEFINE_BIGGEST(16)
DEFINE_BIGGEST(32)
DEFINE_BIGGEST(64)

/* ---- the set, by the enums of summary.c -------------------------------------------------------------------------- */

static const tdbg_kernels KERNEL(kernels) = {
    .keys = {KERNEL(keys_f32), KERNEL(keys_f64), KERNEL(keys_i32), KERNEL(keys_i64), KERNEL(keys_u64)},
    .sums = {KERNEL(sums_f32), KERNEL(sums_f64), KERNEL(sums_i32), KERNEL(sums_i64), KERNEL(sums_u64)},
    .pack_finite = {KERNEL(pack_f32), KERNEL(pack_f64)},
    .widen =
        {
            [WIDEN_FLOAT16] = KERNEL(widen_float16),
            [WIDEN_BFLOAT16] = KERNEL(widen_bfloat16),
            [WIDEN_E4M3FN] = KERNEL(widen_e4m3fn),
            [WIDEN_E5M2] = KERNEL(widen_e5m2),
            [WIDEN_E4M3FNUZ] = KERNEL(widen_e4m3fnuz),
            [WIDEN_E4M3B11FNUZ] = KERNEL(widen_e4m3b11fnuz),
            [WIDEN_E5M2FNUZ] = KERNEL(widen_e5m2fnuz),
            [WIDEN_INT8] = KERNEL(widen_int8),
            [WIDEN_INT16] = KERNEL(widen_int16),
            [WIDEN_UINT8] = KERNEL(widen_uint8),
            [WIDEN_UINT16] = KERNEL(widen_uint16),
            [WIDEN_UINT32] = KERNEL(widen_uint32),
            [WIDEN_BOOL] = KERNEL(widen_bool),
        },
    .any_bad = {KERNEL(any_bad_8), KERNEL(any_bad_16), KERNEL(any_bad_32), KERNEL(any_bad_64)},
    .biggest = {KERNEL(biggest_8), KERNEL(biggest_16), KERNEL(biggest_32), KERNEL(biggest_64)},
#ifdef F16C
    .quick_f32 = KERNEL(quick_f32),
#endif
};

#undef DEFINE_KEYS
#undef DEFINE_PACK
#undef DEFINE_SUMS
#undef DEFINE_WIDEN
#undef DEFINE_ANY_BAD
#undef DEFINE_BIGGEST
#undef KERNEL
#undef TARGET
#undef VECTOR_BYTES
#undef F16C
