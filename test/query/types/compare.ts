/** Compares one call on both sides: its type, and its value or SQLSTATE for each pair of rows. */

import { type Call, statementOf } from './calls.ts'
import { rowCount, valueAt } from './columns.ts'
import type { SideAnswer, Sides } from './sides.ts'

/** In what a call differs; the kinds from the worst to the least. */
export type DifferenceKind = 'value' | 'type' | 'accepted' | 'fails' | 'sqlstate' | 'refused' | 'typmod'

export interface Difference {
  readonly call: Call
  readonly kind: DifferenceKind
  readonly here: string
  readonly there: string
}

const spoken = (answer: SideAnswer): string => ('error' in answer ? answer.error : String(answer.oid))

/** Types of PostgreSQL that are served as another. */
const sameType = (oid: number): number => (oid === 705 || oid === 19 ? 25 : oid)

/** How a call differs. Each kind is told once. */
export async function compare(sides: Sides, call: Call): Promise<readonly Difference[]> {
  const sql = statementOf(call)
  const [there, here] = await Promise.all([sides.postgres.describe(sql), sides.ours.describe(sql)])
  const differs = (kind: DifferenceKind, a: string, b: string): Difference => ({
    call,
    kind,
    here: a,
    there: b,
  })
  if ('error' in here && 'error' in there)
    return here.error === there.error ? [] : [differs('sqlstate', here.error, there.error)]
  if ('error' in here) {
    // A literal that PostgreSQL reads when the statement runs may fail there too.
    const run = await sides.postgres.run(sql)
    if ('error' in run && run.error === here.error) return []
    return [differs('refused', `${here.error} ${here.message ?? ''}`, spoken(there))]
  }
  if ('error' in there) {
    const run = await sides.ours.run(sql)
    if ('error' in run && run.error === there.error) return []
    return [
      differs('error' in run ? 'sqlstate' : 'accepted', spoken(run), `${there.error} ${there.message ?? ''}`),
    ]
  }
  const found: Difference[] = []
  if (here.oid !== sameType(there.oid)) found.push(differs('type', String(here.oid), String(there.oid)))
  else if (here.typmod !== there.typmod)
    found.push(differs('typmod', String(here.typmod), String(there.typmod)))
  return [...found, ...(await valueDifferences(sides, call, differs))]
}

async function valueDifferences(
  sides: Sides,
  call: Call,
  differs: (kind: DifferenceKind, here: string, there: string) => Difference,
): Promise<readonly Difference[]> {
  const sql = statementOf(call)
  const [there, here] = await Promise.all([sides.postgres.run(sql), sides.ours.run(sql)])
  if (!('error' in here) && !('error' in there))
    return cellDifference(call, here.cells, there.cells, undefined, differs)
  if (call.isAggregate || call.columns.length === 0)
    return outcomeDifference(call, here, there, undefined, differs)
  // Each pair of rows by itself, because the first failure hides the others.
  const kinds = new Map<DifferenceKind, Difference>()
  const { columns } = call
  for (let first = 1; first <= rowCount; first++)
    for (let second = 1; second <= (columns.length > 1 ? rowCount : 1); second++) {
      const ids = columns.length > 1 ? [first, second] : [first]
      if (columns.some((column, index) => (ids[index] ?? 1) > Math.min(rowCount, column.values.length + 1)))
        continue
      const one = statementOf(call, ids)
      const [a, b] = await Promise.all([sides.ours.run(one), sides.postgres.run(one)])
      for (const each of outcomeDifference(call, a, b, ids, differs))
        if (!kinds.has(each.kind)) kinds.set(each.kind, each)
    }
  return [...kinds.values()]
}

function outcomeDifference(
  call: Call,
  here: SideAnswer,
  there: SideAnswer,
  ids: readonly number[] | undefined,
  differs: (kind: DifferenceKind, here: string, there: string) => Difference,
): readonly Difference[] {
  const at = operandsAt(call, ids)
  if ('error' in here && 'error' in there)
    return here.error === there.error
      ? []
      : [differs('sqlstate', `${at}: ${here.error} ${here.message ?? ''}`, `${there.error}`)]
  if ('error' in here)
    return [
      differs(
        'fails',
        `${at}: ${here.error} ${here.message ?? ''}`,
        'error' in there ? '' : String(there.cells),
      ),
    ]
  if ('error' in there) return [differs('accepted', `${at}: ${String(here.cells)}`, there.error)]
  return cellDifference(call, here.cells, there.cells, ids, differs)
}

function operandsAt({ columns }: Call, ids: readonly number[] | undefined): string {
  return ids === undefined
    ? ''
    : columns.map((column, index) => String(valueAt(column, ids[index] ?? 1))).join(' , ')
}

function cellDifference(
  call: Call,
  here: readonly (string | null)[],
  there: readonly (string | null)[],
  ids: readonly number[] | undefined,
  differs: (kind: DifferenceKind, here: string, there: string) => Difference,
): readonly Difference[] {
  const row = there.findIndex((cell, index) => cell !== here[index])
  if (row < 0 && here.length === there.length) return []
  const { columns } = call
  const at = ids ?? (columns.length > 1 ? [Math.floor(row / rowCount) + 1, (row % rowCount) + 1] : [row + 1])
  return [
    differs('value', `${call.isAggregate ? '' : operandsAt(call, at)}: ${here[row]}`, String(there[row])),
  ]
}
