/**
 * Counts the rows whose key has no partner in the table that a relationship names. NULL in a key is no key. The other
 * table is read as the system at the snapshot that its readers see; what is counted of it is shown to stewards alone.
 */

import { Fault } from '../../base/fault.ts'
import { quoteIdentifier } from '../../base/sql-text.ts'
import type { CheckFinding, StepResult } from '../../core/check-run.ts'
import type { SystemColumn, SystemPair, SystemTable } from '../../core/system-read.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { RunStep } from '../checks/run-kind.ts'
import { failedAs } from './judge.ts'
import type { Reference } from './references.ts'

/** SQLSTATEs after which the other table may be read later. */
const passing = new Set(['57014', '53000', '53200', '53300', '08006', '58000'])
/** No column has this number, so that only stewards see a result that rests on another table. */
const noColumn = 0

/** A step for each reference. */
export function referenceSteps(
  references: readonly Reference[],
  ref: TableRef,
  table: SystemTable,
): readonly RunStep[] {
  return references.map((reference) => ({
    key: `check ${reference.key}`,
    run: async (signal) => await measured(reference, ref, table, signal),
  }))
}

async function measured(
  { key, element, columns, target, reason }: Reference,
  ref: TableRef,
  table: SystemTable,
  signal: AbortSignal,
): Promise<StepResult> {
  const isOther = target !== undefined && tableKey(target.table) !== tableKey(ref)
  const own = columns.map((name) => table.columns.find((one) => one.name === name))
  const base = {
    ...({ key, element, metric: 'references', severity: 'error', unit: 'rows' } as const),
    // What an author makes of another table is an own statement: nothing of it is shown where a number is not.
    ...{
      custom: isOther,
      fieldIds: [...own.flatMap((one) => one?.fieldId ?? []), ...(isOther ? [noColumn] : [])],
    },
  }
  const ending = (outcome: CheckFinding['outcome'], why: string): StepResult => ({
    findings: [{ ...base, outcome, reason: why }],
  })
  if (target === undefined) return ending('not_run', reason ?? 'no target')
  if (own.includes(undefined)) return ending('error', 'no column')
  const opened = await orState(() => table.beside(target.table, signal), signal)
  if (typeof opened === 'string') return ending('not_run', opened === '42P01' ? 'no table' : opened)
  const text = statementOf(columns, table.relation, opened, target.columns)
  if (text === undefined) return ending('not_run', 'no target')
  const checked = await orState(async () => opened.check(text), signal)
  // The two ends have types that are not compared.
  if (typeof checked === 'string') return ending('not_run', 'type')
  const result = await orState(() => opened.run(text, 1, signal), signal)
  if (typeof result === 'string') return ending('error', result)
  const { rows, engine, bytes } = result
  const value = String(rows[0]?.[0] ?? '')
  const finding: CheckFinding = {
    ...{ ...base, engine, value, expected: { operator: 'mustBe', threshold: 0 } },
    outcome: value === '0' ? 'passed' : failedAs('error'),
  }
  return { findings: [finding], bytes }
}

function statementOf(
  columns: readonly string[],
  relation: string,
  other: SystemPair,
  keys: readonly string[],
): string | undefined {
  const has = (name: string) => other.columns.some((one: SystemColumn) => one.name === name)
  if (!keys.every(has)) return undefined
  const own = columns.map((name) => `o.${quoteIdentifier(name)}`)
  const present = own.map((name) => `${name} IS NOT NULL`).join(' AND ')
  const equal = keys.map((name, index) => `k.${quoteIdentifier(name)} = ${own[index] ?? ''}`).join(' AND ')
  return `SELECT count(*) FROM ${relation} AS o WHERE ${present}
    AND NOT EXISTS (SELECT 1 FROM ${other.relation} AS k WHERE ${equal})`
}

/** @returns the SQLSTATE with which it failed @throws where it may succeed later */
async function orState<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | string> {
  try {
    return await work()
  } catch (thrown) {
    if (signal.aborted || !(thrown instanceof Fault)) throw thrown
    const state = String(thrown.members?.sqlstate ?? '')
    if (state === '' || passing.has(state)) throw thrown
    return state
  }
}
