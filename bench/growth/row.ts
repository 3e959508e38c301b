/** One row of the growth table: what is asked for, what grows beneath it, and how its cost may grow. */

import type { BenchStore } from '../entry.ts'
import type { Random } from '../statistics.ts'

/** How a cost grows with its size. */
export const growths = ['flat', 'linear', 'worse'] as const
export type Growth = (typeof growths)[number]

/** Three sizes, ascending. */
export type Sizes = readonly [number, number, number]

export interface GrowthRow {
  /** Kebab-case; `--rows` takes it. */
  readonly name: string
  /** What grows: `data files`. */
  readonly of: string
  /** What `cost` is: `ms of the first query`. */
  readonly unit: string
  readonly declared: Exclude<Growth, 'worse'>
  readonly sizes: Sizes
  readonly smokeSizes: Sizes
  /** `postgres`: on PostgreSQL only; `any`: on the chosen stores; undefined: without a store. */
  readonly store?: 'postgres' | 'any'
  /** Opens what is measured, empty. */
  open(setting: GrowthSetting): Promise<GrowthSubject>
}

export interface GrowthSetting {
  /** Undefined for a row without a store. */
  readonly store: BenchStore | undefined
  readonly smoke: boolean
  readonly random: Random
}

export interface GrowthSubject extends AsyncDisposable {
  /** Grows to a size, and gives what is asked for its cost there. Sizes ascend. */
  costAt(size: number): Promise<number>
}

/** Exponents up to these are flat and linear. Between repeated runs an exponent moves by about 0.1. */
const exponentMax = { flat: 0.25, linear: 1.2 } as const

/** How a cost with this exponent grows. */
export function growthOf(exponent: number): Growth {
  if (exponent <= exponentMax.flat) return 'flat'
  return exponent <= exponentMax.linear ? 'linear' : 'worse'
}

/**
 * The exponent by which the cost follows the size: the slope of the straight line through the logarithms of both, by
 * least squares.
 */
export function exponentOf(points: readonly { readonly size: number; readonly cost: number }[]): number {
  // A cost below what can be measured must not make an exponent of its own.
  const logs = points.map(({ size, cost }) => [Math.log(size), Math.log(Math.max(cost, 1e-3))] as const)
  const mean = (index: 0 | 1) => logs.reduce((sum, log) => sum + log[index], 0) / logs.length
  const [sizes, costs] = [mean(0), mean(1)]
  const above = logs.reduce((sum, [size, cost]) => sum + (size - sizes) * (cost - costs), 0)
  return above / logs.reduce((sum, [size]) => sum + (size - sizes) ** 2, 0)
}
