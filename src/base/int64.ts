/** The ranges of integers of 64 bits. */

export const int64Min = -(2n ** 63n)
export const int64Max = 2n ** 63n - 1n
export const uint64Max = 2n ** 64n - 1n
