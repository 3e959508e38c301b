/**
 * The kind of check run that compares a snapshot on two engines, or with its source in PostgreSQL. Findings say which
 * measure of which column differs, with both numbers. Least and greatest values, contents and keys are values of the
 * data: they are not kept, and are read again on demand (locate-differences.ts).
 */

import { Fault } from '../../base/fault.ts'
import type { CheckFinding, ClaimedCheckRun, StepResult } from '../../core/check-run.ts'
import type { ModelCounterpart } from '../../wire/odcs/model.ts'
import type { RunKind, RunStep } from '../checks/run-kind.ts'
import type { ColumnPair } from './column-kind.ts'
import { compareContent, compareTotals, type Difference, type Totals } from './compare.ts'
import type { Cells, SideReader } from './locate.ts'
import { contentStatement, hasContent, rowsStatement, type Side, totalsStatement } from './measures.ts'
import { counterpartsOf, hasSecondEngine, type SideParts, type Sides, withSides } from './sides.ts'

/** Columns whose contents one statement hashes. */
const contentColumns = 8

/** Measures that are values of the data. */
const hidden: ReadonlySet<Difference['measure']> = new Set(['min', 'max', 'content'])

type Columns = readonly { readonly fieldId: number; readonly name: string }[]

/**
 * Reconciliation runs; their input is the counterpart, with `required` where a missing second engine counts as an error.
 */
export function reconcileKind(parts: SideParts): RunKind {
  return {
    name: 'reconciliation',
    deployInput: (_, { reconciliation: counterparts }) => counterparts && { counterparts },
    async open(run, _, table) {
      const counterparts = counterpartsOf(run.input)
      if (counterparts.length === 0) throw new Fault('unprocessable', 'The run names no counterpart.')
      const columns = table.columns.map(({ fieldId, name }) => ({ fieldId, name }))
      const isDouble = await hasSecondEngine(parts, run)
      return counterparts.flatMap((one, index) => {
        const steps =
          'engine' in one && !isDouble ? [noEngine(one.required === true)] : stepsOf(parts, run, one, columns)
        return index === 0 ? steps : steps.map((step) => renamed(step, `${index + 1}`))
      })
    },
  }
}

/** The step of a further counterpart, its findings told from those of the first. */
function renamed(step: RunStep, suffix: string): RunStep {
  return {
    key: `${step.key} of ${suffix}`,
    async run(signal) {
      const result = await step.run(signal)
      const findings = result.findings.map((one) => ({ ...one, key: `${one.key} of ${suffix}` }))
      return { ...result, findings }
    },
  }
}

/** Nothing was compared: the credential names no Trino. */
function noEngine(isRequired: boolean): RunStep {
  const finding = findingOf('engines', undefined, isRequired ? 'error' : 'not_run')
  return {
    key: 'engines',
    run: async () => ({ findings: [{ ...finding, reason: 'the catalog has no second engine' }] }),
  }
}

function stepsOf(
  parts: SideParts,
  run: ClaimedCheckRun,
  counterpart: ModelCounterpart,
  columns: Columns,
): readonly RunStep[] {
  const groups = Array.from({ length: Math.ceil(columns.length / contentColumns) }, (_, index) =>
    columns.slice(index * contentColumns, (index + 1) * contentColumns),
  )
  const step = (
    key: string,
    concerned: Columns,
    work: (sides: Sides, signal: AbortSignal) => Promise<StepResult>,
  ) => ({
    key,
    async run(signal: AbortSignal): Promise<StepResult> {
      try {
        return await withSides(parts, run, counterpart, signal, (sides) => work(sides, signal))
      } catch (thrown) {
        const reason = stateOf(thrown, signal)
        return { findings: [{ ...findingOf(key, undefined, 'error'), fieldIds: idsOf(concerned), reason }] }
      }
    },
  })
  return [
    step('totals', columns, totals),
    ...groups.map((group, index) =>
      step(`content ${index + 1}`, group, (sides, signal) => content(sides, group, signal)),
    ),
    step('rows', columns, rows),
  ]
}

const idsOf = (columns: Columns) => columns.map(({ fieldId }) => fieldId)

/** Number of rows, and the totals of every column, in one scan of each side. */
async function totals(sides: Sides, signal: AbortSignal): Promise<StepResult> {
  const { pairs, missing, unlike } = sides
  const measures = totalsStatement('duckdb', pairs, 'left', '').measures
  const read = async (side: Side): Promise<Totals> => {
    const [count = null, ...values] = await oneRow(sides[side], signal, (relation) =>
      totalsStatement(sides[side].dialect, pairs, side, relation),
    )
    return { rows: count ?? '0', values }
  }
  const [left, right] = [await read('left'), await read('right')]
  const differences = compareTotals(pairs, measures, left, right)
  return {
    rows: Number(left.rows),
    bytes: sides.bytes(),
    findings: [
      ...missing.map(({ fieldId, name }) =>
        failed('totals', { fieldId, name }, 'column', 'missing on one side'),
      ),
      ...unlike.map(({ fieldId, name }) =>
        failed('totals', { fieldId, name }, 'type', 'values cannot be compared'),
      ),
      ...findings('totals', [undefined, ...pairs], differences, 'rows', left.rows),
    ],
  }
}

/** The contents of some columns, whatever the order of rows. */
async function content(sides: Sides, group: Columns, signal: AbortSignal): Promise<StepResult> {
  const wanted = new Set(idsOf(group))
  const pairs = sides.pairs.filter((pair) => wanted.has(pair.fieldId))
  const compared = pairs.filter(hasContent)
  const read = (side: Side) =>
    oneRow(sides[side], signal, (relation) => contentStatement(sides[side].dialect, compared, side, relation))
  const differences =
    compared.length === 0 ? [] : compareContent(compared, await read('left'), await read('right'))
  const nested = pairs.filter((pair) => !hasContent(pair))
  return {
    bytes: sides.bytes(),
    findings: [
      ...findings('content', compared, differences, 'content'),
      ...nested.map(({ fieldId, left: { name } }) => ({
        ...findingOf('content', { fieldId, name }, 'not_run' as const),
        reason: 'nested values are compared by NULL alone',
      })),
    ],
  }
}

/** The contents of whole rows, which alone shows values that changed places. */
async function rows(sides: Sides, signal: AbortSignal): Promise<StepResult> {
  const pairs = sides.pairs.filter(hasContent)
  const read = (side: Side) =>
    oneRow(sides[side], signal, (relation) => rowsStatement(sides[side].dialect, pairs, side, relation))
  const [[left], [right]] = [await read('left'), await read('right')]
  const found = findingOf('rows', undefined, left === right ? 'passed' : 'failed')
  return {
    bytes: sides.bytes(),
    findings: [{ ...found, metric: 'row_content', fieldIds: pairs.map(({ fieldId }) => fieldId) }],
  }
}

async function oneRow(
  side: SideReader,
  signal: AbortSignal,
  write: Parameters<SideReader['read']>[0],
): Promise<Cells> {
  const [row] = await side.read(write, 1, signal)
  if (row === undefined) throw new Fault('internal', 'A side of a reconciliation gave no row.')
  return row
}

function findingOf(
  step: string,
  column: Columns[number] | undefined,
  outcome: CheckFinding['outcome'],
): CheckFinding {
  return {
    key: column === undefined ? step : `${step} ${column.name}`,
    element: column?.name ?? '',
    metric: 'reconciliation',
    severity: 'error',
    outcome,
    fieldIds: column === undefined ? [] : [column.fieldId],
    custom: false,
  }
}

function failed(step: string, column: Columns[number], metric: string, reason: string): CheckFinding {
  const finding = findingOf(step, column, 'failed')
  return { ...finding, key: `${finding.key} ${metric}`, metric, reason }
}

/** A finding for each difference, and one for each column without any. */
function findings(
  step: string,
  pairs: readonly (ColumnPair | undefined)[],
  differences: readonly Difference[],
  metric: string,
  value?: string,
): readonly CheckFinding[] {
  return pairs.flatMap((pair): readonly CheckFinding[] => {
    const column = pair && { fieldId: pair.fieldId, name: pair.left.name }
    const own = differences.filter(({ fieldId }) => fieldId === pair?.fieldId)
    if (own.length === 0) {
      const passed = findingOf(step, column, 'passed')
      return [pair === undefined && value !== undefined ? { ...passed, metric, value } : passed]
    }
    return own.map(({ measure, left, right, hint }) => {
      const finding = findingOf(step, column, 'failed')
      return {
        ...{ ...finding, key: `${finding.key} ${measure}`, metric: measure },
        ...(!hidden.has(measure) && { value: left, detail: { left, right } }),
        ...(hint !== undefined && { reason: hint }),
      }
    })
  })
}

/** SQLSTATEs after which the statement may succeed later: cancelled, out of places or memory, storage or store away. */
const passing = new Set(['57014', '53000', '53200', '53300', '08006', '08001', '58000', '57P01'])

/** @returns the SQLSTATE with which a side failed @throws where it may succeed later */
function stateOf(thrown: unknown, signal: AbortSignal): string {
  if (signal.aborted || !(thrown instanceof Fault)) throw thrown
  if (thrown.kind === 'unprocessable') return 'the source, its table or its version does not fit'
  const state = String(thrown.members?.sqlstate ?? '')
  if (state === '' || passing.has(state)) throw thrown
  return state
}
