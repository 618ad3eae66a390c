/* One sweep over a block of float32 with eight lanes: extremes, signs and both moments together, about three times as
   fast as keys and sums apart. Included per x86 instruction set, like summary_kernels.h.

   Moments are added up in float32, at most 16 additions deep, and those sums in double: good to about 1e-7 of the
   spread. Where that would not hold (squares out of range, a centre far from the mean, anything not finite) it gives up
   and the block goes the exact way. */

TARGET static int KERNEL(quick_f32)(const void *data, int n, tdbg_keys *keys, tdbg_sums *sums) {
    const float *x = data;
    enum { LANES = 8, RUN = 256 };
    float centre = 0;
    for (int i = 0; i < 8; i++) {
        float sample;
        memcpy(&sample, x + (ptrdiff_t)i * (n / 8), sizeof sample);
        centre += sample * 0.125f;
    }
    const __m256 c = _mm256_set1_ps(centre), zero = _mm256_setzero_ps();
    __m256 low0 = _mm256_loadu_ps(x), low1 = low0, high0 = low0, high1 = low0;
    __m256i negative = _mm256_setzero_si256(), zeros = negative;
    __m256d first = _mm256_setzero_pd(), second = first;
    for (int begin = 0; begin < n; begin += RUN) {
        const int end = begin + RUN < n ? begin + RUN : n;
        __m256 s0 = zero, s1 = zero, q0 = zero, q1 = zero;
        for (int i = begin; i < end; i += 2 * LANES) {
            const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + LANES);
            low0 = _mm256_min_ps(a, low0), low1 = _mm256_min_ps(b, low1);
            high0 = _mm256_max_ps(a, high0), high1 = _mm256_max_ps(b, high1);
            negative = _mm256_sub_epi32(negative, _mm256_castps_si256(_mm256_cmp_ps(a, zero, _CMP_LT_OQ)));
            negative = _mm256_sub_epi32(negative, _mm256_castps_si256(_mm256_cmp_ps(b, zero, _CMP_LT_OQ)));
            zeros = _mm256_sub_epi32(zeros, _mm256_castps_si256(_mm256_cmp_ps(a, zero, _CMP_EQ_OQ)));
            zeros = _mm256_sub_epi32(zeros, _mm256_castps_si256(_mm256_cmp_ps(b, zero, _CMP_EQ_OQ)));
            const __m256 da = _mm256_sub_ps(a, c), db = _mm256_sub_ps(b, c);
            s0 = _mm256_add_ps(s0, da), s1 = _mm256_add_ps(s1, db);
            q0 = _mm256_fmadd_ps(da, da, q0), q1 = _mm256_fmadd_ps(db, db, q1);
        }
        s0 = _mm256_add_ps(s0, s1), q0 = _mm256_add_ps(q0, q1);
        first = _mm256_add_pd(first, _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(s0)),
                                                   _mm256_cvtps_pd(_mm256_extractf128_ps(s0, 1))));
        second = _mm256_add_pd(second, _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(q0)),
                                                     _mm256_cvtps_pd(_mm256_extractf128_ps(q0, 1))));
    }
    float lows[LANES], highs[LANES];
    int32_t negatives[LANES], zero_counts[LANES];
    double firsts[4], seconds[4];
    _mm256_storeu_ps(lows, _mm256_min_ps(low0, low1));
    _mm256_storeu_ps(highs, _mm256_max_ps(high0, high1));
    _mm256_storeu_si256((__m256i *)negatives, negative);
    _mm256_storeu_si256((__m256i *)zero_counts, zeros);
    _mm256_storeu_pd(firsts, first);
    _mm256_storeu_pd(seconds, second);
    sums->first = (firsts[0] + firsts[1]) + (firsts[2] + firsts[3]);
    sums->second = (seconds[0] + seconds[1]) + (seconds[2] + seconds[3]);
    sums->shift = centre;
    float low = lows[0], high = highs[0];
    int below = 0, zero_count = 0;
    for (int i = 0; i < LANES; i++) {
        low = lows[i] < low ? lows[i] : low;
        high = highs[i] > high ? highs[i] : high;
        below += negatives[i];
        zero_count += zero_counts[i];
    }
    const double mean = sums->first / n, variance = sums->second / n - mean * mean;
    const double spread = fmax((double)high - centre, centre - (double)low);
    if (!(sums->second < 1e300)) return 0; /* a NaN or an infinity, or squares that overflowed */
    if (spread != 0 && (!(spread < 1e18) || spread < 1e-15 || mean * mean > 4 * variance)) return 0;
    uint32_t bits;
    memcpy(&bits, &low, sizeof bits);
    keys->low = key_f32(bits);
    memcpy(&bits, &high, sizeof bits);
    keys->high = key_f32(bits);
    keys->negative = below;
    keys->positive = n - below - zero_count;
    return 1;
}
