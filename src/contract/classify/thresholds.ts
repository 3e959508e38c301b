/** Compares bounds and thresholds: which values are accepted before and after. */

import type { ModelQuality, ModelSla } from '../../wire/odcs/model.ts'
import type { Direction } from './finding.ts'

interface Bound {
  readonly value: number
  /** Whether the value itself is left out. */
  readonly open: boolean
}

/** A number, or the time of a date; undefined for other text. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  const found = Number.isNaN(number) ? Date.parse(value) : number
  return Number.isNaN(found) ? undefined : found
}

type Options = Readonly<Record<string, unknown>>

/** The bound that holds of an inclusive and an exclusive one; `unreadable` where one is no number or date. */
function boundOf(
  options: Options,
  side: 'inimum' | 'aximum',
  integers: boolean,
): Bound | undefined | 'unreadable' {
  const names = side === 'inimum' ? ['minimum', 'exclusiveMinimum'] : ['maximum', 'exclusiveMaximum']
  const sign = side === 'inimum' ? 1 : -1
  const bounds: Bound[] = []
  for (const [index, name] of names.entries()) {
    if (options[name] === undefined) continue
    const value = numberOf(options[name])
    if (value === undefined) return 'unreadable'
    const open = index === 1
    bounds.push(integers && open ? { value: value + sign, open: false } : { value, open })
  }
  return bounds.toSorted((a, b) => sign * (b.value - a.value) || Number(b.open) - Number(a.open))[0]
}

/** How the lower or the upper bound changed. */
export function boundChange(
  before: Options,
  after: Options,
  side: 'inimum' | 'aximum',
  integers: boolean,
): Direction {
  const [old, now] = [boundOf(before, side, integers), boundOf(after, side, integers)]
  if (old === 'unreadable' || now === 'unreadable') return 'undecided'
  if (old === undefined || now === undefined)
    return old === now ? 'same' : now === undefined ? 'loosened' : 'tightened'
  const sign = side === 'inimum' ? 1 : -1
  const difference = sign * (now.value - old.value) || Number(now.open) - Number(old.open)
  return difference === 0 ? 'same' : difference > 0 ? 'tightened' : 'loosened'
}

/** How a single limit changed. @param up whether a greater limit accepts less */
export function limitChange(before: unknown, after: unknown, up: boolean): Direction {
  if (before === undefined || after === undefined)
    return before === after ? 'same' : after === undefined ? 'loosened' : 'tightened'
  const [old, now] = [numberOf(before), numberOf(after)]
  if (old === undefined || now === undefined) return 'undecided'
  if (old === now) return 'same'
  return now > old === up ? 'tightened' : 'loosened'
}

type Accepts = (value: number) => boolean

/** The values that a rule accepts, and its bounds; undefined where it has no valid threshold. */
export function acceptance({
  operator,
  threshold,
}: Pick<ModelQuality, 'operator' | 'threshold'>): { accepts: Accepts; bounds: number[] } | undefined {
  const bounds = (Array.isArray(threshold) ? threshold : [threshold]).filter((one) => typeof one === 'number')
  const [low = Number.NaN, high = Number.NaN] = bounds
  const between = (value: number) => value >= low && value <= high
  const accepts: Readonly<Record<string, Accepts>> = {
    mustBe: (value) => value === low,
    mustNotBe: (value) => value !== low,
    mustBeGreaterThan: (value) => value > low,
    mustBeGreaterOrEqualTo: (value) => value >= low,
    mustBeLessThan: (value) => value < low,
    mustBeLessOrEqualTo: (value) => value <= low,
    mustBeBetween: between,
    mustNotBeBetween: (value) => !between(value),
  }
  const found = accepts[operator ?? '']
  const wanted = operator?.endsWith('Between') ? 2 : 1
  return found !== undefined && bounds.length === wanted ? { accepts: found, bounds } : undefined
}

/** How the threshold of a quality rule changed. */
export function thresholdChange(before: ModelQuality, after: ModelQuality): Direction {
  if (before.operator === after.operator && Bun.deepEquals(before.threshold, after.threshold)) return 'same'
  if (before.operator === undefined || after.operator === undefined)
    return after.operator === undefined ? 'loosened' : 'tightened'
  const [old, now] = [acceptance(before), acceptance(after)]
  if (old === undefined || now === undefined || before.unit !== after.unit) return 'undecided'
  const counts = after.type === 'library' && after.unit !== 'percent'
  const probes = [...old.bounds, ...now.bounds].flatMap((bound) =>
    counts
      ? [Math.floor(bound) - 1, Math.floor(bound), Math.ceil(bound), Math.ceil(bound) + 1]
      : [bound - 1, bound - 1e-9, bound, bound + 1e-9, bound + 1],
  )
  const values = probes.filter((value) => !counts || value >= 0)
  const looser = values.some((value) => now.accepts(value) && !old.accepts(value))
  const tighter = values.some((value) => old.accepts(value) && !now.accepts(value))
  if (looser && tighter) return 'both'
  return looser ? 'loosened' : tighter ? 'tightened' : 'same'
}

const seconds: Readonly<Record<string, number>> = {
  ...{ s: 1, sec: 1, second: 1, seconds: 1, m: 60, min: 60, minute: 60, minutes: 60 },
  ...{ h: 3_600, hour: 3_600, hours: 3_600, d: 86_400, day: 86_400, days: 86_400 },
  ...{ w: 604_800, week: 604_800, weeks: 604_800, y: 31_536_000, year: 31_536_000, years: 31_536_000 },
}

/** Service levels of which less is promised by a greater value, and by a smaller one. */
const lowerIsBetter = new Set([
  'latency',
  'freshness',
  'errorrate',
  'timetodetect',
  'timetonotify',
  'timetorepair',
])
const higherIsBetter = new Set(['retention', 'availability', 'throughput'])

/** A service level as a number, in seconds where it has a unit of time; undefined where it is none. */
export function amount({ value, unit }: ModelSla): number | undefined {
  const number = numberOf(value)
  const factor = unit === undefined ? 1 : seconds[unit.toLowerCase()]
  return number === undefined || factor === undefined ? undefined : number * factor
}

/** How a service level changed. */
export function slaChange(before: ModelSla, after: ModelSla): Direction {
  if (Bun.deepEquals(before.value, after.value) && before.unit === after.unit) return 'same'
  const name = before.property.toLowerCase()
  const [lower, higher] = [lowerIsBetter.has(name), higherIsBetter.has(name)]
  const sameUnit = before.unit === after.unit
  const [old, now] = sameUnit
    ? [numberOf(before.value), numberOf(after.value)]
    : [amount(before), amount(after)]
  if ((!lower && !higher) || old === undefined || now === undefined) return 'undecided'
  if (old === now) return 'same'
  return now > old === higher ? 'tightened' : 'loosened'
}
