/**
 * The kind of check run that measures the quality rules of a contract. All counts of a table are one scan; duplicates
 * and the author's own statements are a statement each. Every check runs whatever the others find.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { CheckFinding, StepResult } from '../../core/check-run.ts'
import type { SystemCell, SystemRows, SystemTable } from '../../core/system-read.ts'
import type { RunKind, RunStep } from '../checks/run-kind.ts'
import { judge } from './judge.ts'
import { referenceSteps } from './measure-references.ts'
import { type CheckPlan, type PlannedCheck, planChecks, schemaOf } from './plan-checks.ts'
import { referencesOf } from './references.ts'
import { judgeLevel, type PlannedLevel } from './service-levels.ts'

/** Aggregates of one statement, below what a result may have of columns. */
const aggregatesMax = 500

/** Quality runs; their input holds `checks`, the keys to measure, or nothing for all. */
export function qualityKind(clock: Clock): RunKind {
  return {
    name: 'quality',
    // A deployment without rules still shows that its snapshot can be read.
    deployInput: () => ({}),
    async open(run, { model }, table) {
      const { checks: keys } = run.input
      const only = Array.isArray(keys) ? new Set(keys.map(String)) : undefined
      const schema = schemaOf(model, run.table)
      const plan = planChecks(model, schema, table, only)
      const references = referencesOf(model, schema).filter(({ key }) => only?.has(key) ?? true)
      return [...stepsOf(plan, table, clock), ...referenceSteps(references, run.table, table)]
    },
  }
}

/** The steps of a plan. */
export function stepsOf(plan: CheckPlan, table: SystemTable, clock: Clock): readonly RunStep[] {
  const { unmeasured } = plan
  return [
    ...scanSteps(plan, table, clock),
    ...plan.checks.flatMap((check) => statementStep(check, table) ?? []),
    ...(unmeasured.length > 0
      ? [{ key: 'unmeasured', run: async (): Promise<StepResult> => ({ findings: unmeasured }) }]
      : []),
  ]
}

type Scanned = PlannedCheck | PlannedLevel

function scanSteps(plan: CheckPlan, table: SystemTable, clock: Clock): readonly RunStep[] {
  const counted: readonly Scanned[] = [
    ...plan.checks.filter(({ measure }) => measure.kind === 'scan'),
    ...plan.levels,
  ]
  const groups = Math.max(Math.ceil(counted.length / aggregatesMax), 1)
  return Array.from({ length: groups }, (_, index) => ({
    key: `scan ${index + 1}`,
    run: (signal: AbortSignal) =>
      scan(
        counted.slice(index * aggregatesMax, (index + 1) * aggregatesMax),
        table,
        clock,
        index === 0,
        signal,
      ),
  }))
}

const expressionOf = (one: Scanned) =>
  'level' in one ? one.expression : one.measure.kind === 'scan' ? one.measure.expression : undefined

/** One statement for all of these: the number of rows first, then each aggregate once. */
export function scanText(expressions: readonly string[], relation: string): string {
  return `SELECT ${['count(*)', ...expressions].join(', ')} FROM ${relation}`
}

async function scan(
  counted: readonly Scanned[],
  table: SystemTable,
  clock: Clock,
  isFirst: boolean,
  signal: AbortSignal,
  isApart = false,
): Promise<StepResult> {
  const expressions = [...new Set(counted.flatMap((one) => expressionOf(one) ?? []))]
  const measured = await measureOf(table, scanText(expressions, table.relation), signal)
  if (typeof measured === 'string' && !isApart && counted.length > 0) {
    const alone = await measureOf(table, scanText([], table.relation), signal)
    if (typeof alone !== 'string') return await scanApart(counted, table, clock, isFirst, signal)
  }
  const readable = {
    ...({ key: 'readable', element: '', metric: 'readable', severity: 'error', custom: false } as const),
    fieldIds: [],
  }
  if (typeof measured === 'string') {
    const failed = counted.map((one): CheckFinding => {
      if ('level' in one)
        return { ...judgeLevel(one, undefined, table, clock.now()), outcome: 'error', reason: measured }
      return { ...findingOf(one), outcome: 'error', reason: measured }
    })
    const unread = { ...readable, outcome: 'error', reason: measured } as const
    return { findings: isApart ? failed : [unread, ...failed] }
  }
  const [cells = []] = measured.rows
  const total = textOf(cells[0])
  const { engine, bytes } = measured
  const measuredOf = (one: Scanned) => {
    const expression = expressionOf(one)
    return expression === undefined ? undefined : textOf(cells[1 + expressions.indexOf(expression)])
  }
  const findings = counted.map((one): CheckFinding => {
    if ('level' in one) return { ...judgeLevel(one, measuredOf(one), table, clock.now()), engine }
    return { ...findingOf(one), ...judgeCount(one, measuredOf(one) ?? null, total), engine }
  })
  const read: CheckFinding = { ...readable, outcome: 'passed', value: total ?? '0', unit: 'rows', engine }
  return { findings: isFirst ? [read, ...findings] : findings, rows: Number(total), bytes }
}

/** Halves find the rules that fail a common statement, with few statements more. The table itself can be read. */
async function scanApart(
  counted: readonly Scanned[],
  table: SystemTable,
  clock: Clock,
  isFirst: boolean,
  signal: AbortSignal,
): Promise<StepResult> {
  const whole = await scan([], table, clock, isFirst, signal, true)
  const parts = async (some: readonly Scanned[], hasFailed: boolean): Promise<StepResult> => {
    if (!hasFailed || some.length < 2) {
      const result = await scan(some, table, clock, false, signal, true)
      if (some.length < 2 || result.findings.some(({ outcome }) => outcome !== 'error')) return result
    }
    const middle = Math.ceil(some.length / 2)
    return joined(await parts(some.slice(0, middle), false), await parts(some.slice(middle), false))
  }
  return joined(whole, await parts(counted, true))
}

function joined(first: StepResult, second: StepResult): StepResult {
  const findings = [...first.findings, ...second.findings]
  const rows = first.rows ?? second.rows
  const bytes = (first.bytes ?? 0) + (second.bytes ?? 0)
  return { findings, ...(rows !== undefined && { rows }), bytes }
}

function statementStep(check: PlannedCheck, table: SystemTable): RunStep | undefined {
  const { measure } = check
  if (measure.kind === 'scan') return undefined
  return {
    key: `check ${check.key}`,
    async run(signal) {
      const found = findingOf(check)
      const measured = await measureOf(table, measure.text, signal)
      if (typeof measured === 'string')
        return { findings: [{ ...found, outcome: 'error', reason: measured }] }
      const { engine, bytes, rows } = measured
      const [cells = []] = rows
      if (measure.kind === 'statement') {
        const detail = { rows_concerned: textOf(cells[2]) }
        const judged = judgeCount(check, textOf(cells[0]), textOf(cells[1]))
        return { findings: [{ ...found, ...judged, engine, detail }], bytes }
      }
      const isOne = rows.length === 1 && cells.length === 1
      const judged = isOne
        ? judge(check.rule, check.severity, cells[0] ?? null)
        : ({ outcome: 'error', reason: 'not one value' } as const)
      return { findings: [{ ...found, ...judged, engine }], bytes }
    },
  }
}

function findingOf({ key, element, metric, severity, fieldIds, rule }: PlannedCheck) {
  const unit = rule.unit ?? (rule.type === 'library' ? 'rows' : '')
  return { key, element, metric, severity, fieldIds, unit, custom: rule.type === 'sql' }
}

/** Judges a count as rows, or as a percentage of all rows; of no rows it is 0. */
function judgeCount({ rule, severity }: PlannedCheck, count: string | null, total: string | null) {
  const isPercent = rule.unit?.toLowerCase() === 'percent' || rule.unit === '%'
  if (!isPercent || count === null || total === null) return judge(rule, severity, count)
  const percent = Number(total) === 0 ? 0 : (100 * Number(count)) / Number(total)
  return judge(rule, severity, String(percent))
}

function textOf(cell: SystemCell | undefined): string | null {
  return cell === null || cell === undefined ? null : String(cell)
}

/** SQLSTATEs after which the statement may succeed later: cancelled, out of places or memory, storage or store away. */
const passing = new Set(['57014', '53000', '53200', '53300', '08006', '58000'])

/** @returns the rows, or the SQLSTATE with which the statement failed @throws where it may succeed later */
async function measureOf(
  table: SystemTable,
  text: string,
  signal: AbortSignal,
): Promise<SystemRows | string> {
  try {
    return await table.run(text, 1, signal)
  } catch (thrown) {
    if (signal.aborted || !(thrown instanceof Fault)) throw thrown
    const state = String(thrown.members?.sqlstate ?? '')
    if (state === '' || passing.has(state)) throw thrown
    return state
  }
}
