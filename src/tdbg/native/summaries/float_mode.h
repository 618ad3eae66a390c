/* Puts the calling thread into plain IEEE arithmetic for a while and back into what it had.

   TensorFlow's threads flush subnormals to zero, and a program may trap on overflow: neither may touch the sums. */
#ifndef TDBG_FLOAT_MODE_H
#define TDBG_FLOAT_MODE_H

#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <xmmintrin.h>

typedef unsigned tdbg_float_mode;
enum { FLAGS = 0x3f, PLAIN = 0x1f80 }; /* of MXCSR: raised exceptions; nearest, no flushing, no traps */
static inline tdbg_float_mode plain_float_mode(void) {
    const unsigned mode = _mm_getcsr();
    if ((mode & ~(unsigned)FLAGS) != PLAIN) _mm_setcsr(PLAIN);
    return mode;
}
static inline void restore_float_mode(tdbg_float_mode mode) {
    if ((mode & ~(unsigned)FLAGS) != PLAIN) _mm_setcsr(mode);
}
#elif defined(__aarch64__) && defined(__GNUC__)
typedef uint64_t tdbg_float_mode;
static inline tdbg_float_mode plain_float_mode(void) {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    if (mode) __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)) : "memory");
    return mode;
}
static inline void restore_float_mode(tdbg_float_mode mode) {
    if (mode) __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
}
#else
typedef int tdbg_float_mode;
static inline tdbg_float_mode plain_float_mode(void) { return 0; }
static inline void restore_float_mode(tdbg_float_mode mode) { (void)mode; }
#endif

#endif
