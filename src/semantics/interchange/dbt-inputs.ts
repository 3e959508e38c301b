/** Reads what metrics of dbt are made of: other metrics, also moved in time, and windows of time. */

import { grains, metricNamePattern } from '../../core/metric.ts'
import type { DraftMetric } from './draft.ts'
import { isPlain } from './members.ts'

export interface DbtInput {
  /** Where the metric is that it is an input of. */
  readonly at: string
  readonly name: string
  readonly alias: string | undefined
  /** Members of a metric with an offset, and how its name ends. */
  readonly offset: { readonly body: object; readonly suffix: string } | undefined
}

const namePattern = new RegExp(metricNamePattern)

/** The input of a metric; undefined for one with a filter and the like, which would be another number. */
export function inputOf(value: unknown, at: string): DbtInput | undefined {
  if (typeof value === 'string') return { at, name: value, alias: undefined, offset: undefined }
  if (!isPlain(value) || typeof value.name !== 'string') return undefined
  const { name, alias, offset_window: before, offset_to_grain: toGrain, ...others } = value
  if (!Object.values(others).every((one) => one === null || one === undefined)) return undefined
  const offset = offsetOf(before ?? undefined, toGrain ?? undefined)
  if (offset === 'unknown') return undefined
  if (offset !== undefined && !namePattern.test(`${name}${offset.suffix}`)) return undefined
  return { at, name, alias: typeof alias === 'string' ? alias : undefined, offset }
}

function offsetOf(before: unknown, toGrain: unknown): DbtInput['offset'] | 'unknown' {
  if (before === undefined && toGrain === undefined) return undefined
  if (before !== undefined && toGrain !== undefined) return 'unknown'
  if (toGrain !== undefined) {
    const grain = String(toGrain).toLowerCase()
    if (!(grains as readonly string[]).includes(grain)) return 'unknown'
    return { body: { offset_to_grain: grain }, suffix: `_at_${grain}_start` }
  }
  const window = windowOf(before)
  if (window === undefined || window === 'unknown') return 'unknown'
  return { body: { offset_window: window }, suffix: `_${window.count}_${window.grain}_before` }
}

/** The metric of an input that is moved in time; undefined for one that is not. */
export function offsetMetric({ at, name, offset }: DbtInput): DraftMetric | undefined {
  return offset && { at, name: `${name}${offset.suffix}`, body: { kind: 'offset', of: name, ...offset.body } }
}

/** `30d`, `7 days`, or an object of both. */
export function windowOf(
  value: unknown,
): { readonly count: number; readonly grain: string } | 'unknown' | undefined {
  if (value === undefined) return undefined
  const text = isPlain(value) ? `${value.count} ${value.granularity}` : String(value)
  const [, count, unit = ''] = /^\s*(\d{1,6})\s*([a-z]+?)s?\s*$/i.exec(text) ?? []
  const short: Readonly<Record<string, string>> = {
    h: 'hour',
    d: 'day',
    w: 'week',
    m: 'month',
    q: 'quarter',
    y: 'year',
  }
  const grain = short[unit.toLowerCase()] ?? unit.toLowerCase()
  return count !== undefined && (grains as readonly string[]).includes(grain)
    ? { count: Number(count), grain }
    : 'unknown'
}
