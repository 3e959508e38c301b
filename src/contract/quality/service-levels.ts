/**
 * Measures the service levels of a contract that data and snapshots can show: freshness and latency by the newest row,
 * retention by the oldest row, frequency by the snapshot, and the dates of a contract's life. All others are on record
 * as not run. A missed service level warns; it never stops a deployment, whose snapshot may be pinned to an old state.
 */

import { quoteIdentifier } from '../../base/sql-text.ts'
import type { CheckFinding } from '../../core/check-run.ts'
import type { SystemColumn, SystemTable } from '../../core/system-read.ts'
import type { ModelSla } from '../../wire/odcs/model.ts'
import { amount } from '../classify/thresholds.ts'

/** A service level that is measured of one table. */
export interface PlannedLevel {
  readonly level: ModelSla
  readonly key: string
  readonly column: SystemColumn | undefined
  /** An aggregate of the scan that gives seconds since 1970; undefined where the snapshot or the clock tells. */
  readonly expression: string | undefined
}

const byNewest = new Set(['freshness', 'fr', 'latency', 'ly'])
const byOldest = new Set(['retention', 're'])
const bySnapshot = new Set(['frequency', 'fy'])
const untilDate = new Set(['endofsupport', 'es', 'endoflife', 'el'])
const fromDate = new Set(['generalavailability', 'ga'])
const moments = /^(date|timestamp|timestamptz|timestamp_ns|timestamptz_ns)$/

/**
 * The service levels of a contract that concern a table: those whose element names one of its columns, and those
 * without an element.
 * @param schemaName the object of the document that governs the table
 */
export function planLevels(
  levels: readonly ModelSla[],
  schemaName: string,
  { columns }: Pick<SystemTable, 'columns'>,
): readonly PlannedLevel[] {
  const planned = levels.flatMap((level): readonly PlannedLevel[] => {
    const elements = (level.element ?? '').split(',').map((part) => part.trim())
    return elements.flatMap((element): readonly PlannedLevel[] => {
      const key = levelKey(level, element)
      const name = columnNamed(element, schemaName)
      if (name === undefined) return []
      const column = columns.find((one) => one.name === name)
      return [{ level, key, column, expression: expressionOf(level, name, column) }]
    })
  })
  return planned.filter(({ key }, index) => planned.findIndex((one) => one.key === key) === index)
}

/** The service levels of an object that have a schedule. */
export function scheduledLevels(levels: readonly ModelSla[], schemaName: string) {
  return levels.flatMap((level) =>
    (level.element ?? '').split(',').flatMap((part) => {
      const element = part.trim()
      if (columnNamed(element, schemaName) === undefined) return []
      return [{ key: levelKey(level, element), schedule: level.schedule }]
    }),
  )
}

function levelKey({ property }: ModelSla, element: string): string {
  return `sla.${property}${element === '' ? '' : `.${element}`}`
}

/** The column that an element names; '' where it names the table or nothing; undefined where another object is meant. */
function columnNamed(element: string, schemaName: string): string | undefined {
  if (element === '' || element === schemaName) return ''
  const dot = element.lastIndexOf('.')
  if (dot < 0) return element
  return element.slice(0, dot) === schemaName ? element.slice(dot + 1) : undefined
}

function expressionOf({ property }: ModelSla, name: string, column: SystemColumn | undefined) {
  const word = property.toLowerCase()
  if (name === '' || column === undefined || !moments.test(String(column.type))) return undefined
  const quoted = quoteIdentifier(name)
  if (byNewest.has(word)) return `extract(epoch FROM max(${quoted}))`
  return byOldest.has(word) ? `extract(epoch FROM min(${quoted}))` : undefined
}

/**
 * What a service level shows now.
 * @param seconds what its expression gave; null where the table has no row
 */
export function judgeLevel(
  { level, key, column, expression }: PlannedLevel,
  seconds: string | null | undefined,
  table: Pick<SystemTable, 'committedAtMs'>,
  nowMs: number,
): CheckFinding {
  const word = level.property.toLowerCase()
  const base = {
    ...({
      key,
      element: column?.name ?? '',
      metric: level.property,
      severity: 'warning',
      custom: false,
    } as const),
    fieldIds: column === undefined ? [] : [column.fieldId],
  }
  const notRun = (reason: string): CheckFinding => ({ ...base, outcome: 'not_run', reason })
  if (untilDate.has(word) || fromDate.has(word)) {
    const dateMs = Date.parse(String(level.value))
    if (Number.isNaN(dateMs)) return notRun('no date')
    const holds = untilDate.has(word) ? nowMs < dateMs : nowMs >= dateMs
    return { ...base, outcome: holds ? 'passed' : 'warned', value: new Date(nowMs).toISOString() }
  }
  const isAge = byNewest.has(word) || byOldest.has(word) || bySnapshot.has(word)
  const limit = level.unit === undefined ? undefined : amount(level)
  if (!isAge) return notRun('not measurable')
  if (limit === undefined) return notRun('unit')
  if (expression === undefined && (byOldest.has(word) || (level.element ?? '') !== ''))
    return notRun('no moment')
  const atMs = expression === undefined ? table.committedAtMs : momentMs(seconds)
  if (atMs === undefined) return notRun('no rows')
  const age = Math.max(Math.round((nowMs - atMs) / 1_000), 0)
  return {
    ...base,
    ...{ value: String(age), unit: 's', outcome: age <= limit ? 'passed' : 'warned' },
    expected: { operator: 'mustBeLessOrEqualTo', threshold: limit },
  }
}

function momentMs(seconds: string | null | undefined): number | undefined {
  const number = seconds === null || seconds === undefined ? Number.NaN : Number(seconds)
  return Number.isFinite(number) ? number * 1_000 : undefined
}
