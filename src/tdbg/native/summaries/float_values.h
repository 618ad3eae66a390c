/* Gives the key of an element, an integer in the order of the values, or its value as a double, from its bits. */
#ifndef TDBG_FLOAT_VALUES_H
#define TDBG_FLOAT_VALUES_H

#include <stdint.h>
#include <string.h>

#define INFINITY_F32 INT32_C(0x7f800000)
#define INFINITY_F64 INT64_C(0x7ff0000000000000)

static inline int32_t key_f32(uint32_t bits) { return (int32_t)(bits ^ ((0 - (bits >> 31)) >> 1)); }
static inline int64_t key_f64(uint64_t bits) { return (int64_t)(bits ^ ((0 - (bits >> 63)) >> 1)); }
static inline int64_t key_u64(uint64_t bits) { return (int64_t)(bits ^ (UINT64_C(1) << 63)); }
#define key_same(bits) (bits)

static inline double value_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double value_f32(uint32_t bits) { return as_float(bits); }

/* Before AVX-512 no vector instruction turns 64-bit integers into doubles. Each half, put in the mantissa of 2^84 or
   2^52, is a double; taking those powers off again leaves high + low with one rounding. */
static inline double joined(uint64_t high, uint64_t low, double offset) {
    return (value_f64(high) - offset) + value_f64(low | UINT64_C(0x4330000000000000));
}

static inline double value_u64(uint64_t bits) {
    return joined((bits >> 32) | UINT64_C(0x4530000000000000), bits & UINT32_MAX, 0x1p84 + 0x1p52);
}

static inline double value_i64(uint64_t bits) {
    return joined((bits >> 32) ^ UINT64_C(0x4530000080000000), bits & UINT32_MAX, 0x1p84 + 0x1p63 + 0x1p52);
}

/* The float32 bits of a narrow IEEE-like float; magnitudes from `special` on are infinity and NaN. Subnormals get the
   leading 1 they lack by exponent 1, which is then subtracted. Masks, because branches would stop the vectoriser. */
static inline uint32_t small_float(uint32_t code, int sign_at, int mantissa, int bias, uint32_t special) {
    const uint32_t magnitude = code & ((1u << sign_at) - 1), sign = (code >> sign_at) << 31;
    const uint32_t shifted = magnitude << (23 - mantissa), smallest = (uint32_t)(128 - bias) << 23;
    const uint32_t is_subnormal = 0u - (magnitude < (1u << mantissa)), is_special = 0u - (magnitude >= special);
    const uint32_t normal = shifted + ((uint32_t)(127 - bias) << 23) + (is_subnormal & (1u << 23));
    const float value = as_float(normal) - as_float(smallest & is_subnormal);
    return (as_bits(value) & ~is_special) | ((shifted | 0x7f800000u) & is_special) | sign;
}

/* The same for the "fnuz" formats: no infinity, no -0.0, whose code is the one NaN. */
static inline uint32_t unsigned_zero_float(uint32_t code, int mantissa, int bias) {
    const uint32_t is_nan = 0u - (code == 0x80);
    return small_float(code, 7, mantissa, bias, 0x80) | (is_nan & 0x7fc00000u);
}

#endif
