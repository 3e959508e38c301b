/** The ranges of 64-bit integers. */

export const int64Min = -(2n ** 63n)
export const int64Max = 2n ** 63n - 1n
export const uint64Max = 2n ** 64n - 1n
