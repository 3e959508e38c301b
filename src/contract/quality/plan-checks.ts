/** Plans the checks of a version for one of its tables: what the scan counts, which statements run, what is not run. */

import { Fault } from '../../base/fault.ts'
import type { CheckFinding, Severity } from '../../core/check-run.ts'
import type { SqlType } from '../../core/sql-type.ts'
import type { SystemColumn, SystemTable } from '../../core/system-read.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { columnOf, type GoverningSchema, governing } from '../../store/contract/put-in-force.ts'
import type { ContractModel, ModelQuality } from '../../wire/odcs/model.ts'
import { type Declared, declaredRules } from './declared-rules.ts'
import { severityOf } from './judge.ts'
import { type Metric, type MetricArguments, MetricProblem, metricOf, ownStatement } from './measure.ts'
import { declaredMetric, unmeasurable } from './measure-declared.ts'
import { type PlannedLevel, planLevels } from './service-levels.ts'

/** A rule of the document, where it stands. */
export interface PlacedRule {
  readonly key: string
  readonly rule: ModelQuality
  /** The column at which it stands; '' for the table. */
  readonly element: string
  /** Set where the schema declares it, and no rule. */
  readonly declared?: Declared
  /** What a rule without a name was called before it was named by column and metric. */
  readonly formerKey?: string
}

/** A rule that is measured. */
export interface PlannedCheck extends PlacedRule {
  readonly severity: Severity
  readonly metric: string
  readonly measure: Metric | { readonly kind: 'own'; readonly text: string }
  readonly fieldIds: readonly number[]
}

export interface CheckPlan {
  readonly checks: readonly PlannedCheck[]
  /** What is not measured, with the reason. */
  readonly unmeasured: readonly CheckFinding[]
  readonly levels: readonly PlannedLevel[]
}

/** The object of a model that governs a table. @throws Fault `not_found` */
export function schemaOf(model: ContractModel, table: TableRef): GoverningSchema {
  const found = governing(model).find((schema) => tableKey(schema.table) === tableKey(table))
  if (found === undefined) throw new Fault('not_found', 'The version does not govern the table.')
  return found
}

/**
 * The quality rules of an object and its properties, and what its schema declares, each with a key of its own. Names
 * that the author gave come first, so that no other rule takes one of them.
 */
export function placedRules(schema: Pick<GoverningSchema, 'quality' | 'properties'>): readonly PlacedRule[] {
  const written = [
    ...schema.quality.map((rule) => ({ rule, element: '' })),
    ...schema.properties.flatMap((property) =>
      property.quality.map((rule) => ({ rule, element: columnOf(property) })),
    ),
  ].map((placed) => {
    const { rule, element } = placed
    const key = element === '' ? rule.key : `${element}.${rule.key}`
    return isNamed(rule)
      ? { ...placed, name: key }
      : { ...placed, name: nameOf(rule, element), formerKey: key }
  })
  const all = [...written, ...declaredRules(schema)]
  const keys = new Map<(typeof all)[number], string>()
  const seen = new Map<string, number>()
  const takesFirst = (one: (typeof all)[number]) => !('declared' in one || 'formerKey' in one)
  for (const one of [...all.filter(takesFirst), ...all.filter((each) => !takesFirst(each))]) {
    const count = (seen.get(one.name) ?? 0) + 1
    seen.set(one.name, count)
    keys.set(one, count === 1 ? one.name : `${one.name} ${count}`)
  }
  return all.map((one) => {
    const { name, ...placed } = one
    return { ...placed, key: keys.get(one) ?? name }
  })
}

/** Whether the document gives the rule an `id` or a `name`. */
function isNamed({ key, type, metric, measures }: ModelQuality): boolean {
  return key !== [type, metric ?? '', measures].join(' ')
}

/** The name of a rule without one: its columns and what it measures. */
function nameOf({ type, metric, measures }: ModelQuality, element: string): string {
  const [, given] = JSON.parse(measures) as readonly [unknown, unknown]
  const { properties } = argumentsOf(given)
  const of = Array.isArray(properties) && element === '' ? properties.join(', ') : element
  const word = type === 'library' ? (metric ?? type) : type
  return of === '' ? word : `${of}: ${word}`
}

/** Whether these are the keys of a rule, by its former one too. */
export function isAmong({ key, formerKey = key }: PlacedRule, keys: ReadonlySet<string>): boolean {
  return keys.has(key) || keys.has(formerKey)
}

/** Server types in whose dialect our own statements are written. */
const ownDialects = new Set(['iceberg', 'postgres', 'postgresql', 'custom', 'api'])

/** Whether the statements of a document are in our own dialect. */
export function speaksOurs({ serverTypes }: ContractModel): boolean {
  return serverTypes === undefined || serverTypes.some((type) => ownDialects.has(type))
}

/**
 * Plans the checks.
 * @param only the keys that a schedule measures; undefined: all
 */
export function planChecks(
  model: ContractModel,
  schema: GoverningSchema,
  table: SystemTable,
  only: ReadonlySet<string> | undefined,
): CheckPlan {
  const checks: PlannedCheck[] = []
  const unmeasured: CheckFinding[] = []
  const isOurs = speaksOurs(model)
  for (const placed of placedRules(schema).filter((one) => only === undefined || isAmong(one, only))) {
    const planned = planRule(placed, table, isOurs)
    if ('measure' in planned) checks.push(planned)
    else unmeasured.push(planned)
  }
  const levels = planLevels(model.sla, schema.name, table).filter(({ key }) => only?.has(key) ?? true)
  return { checks, unmeasured, levels }
}

function planRule(placed: PlacedRule, table: SystemTable, isOurs: boolean): PlannedCheck | CheckFinding {
  const { key, rule, element } = placed
  const severity = severityOf(rule.severity)
  const custom = rule.type === 'sql' || rule.type === 'custom'
  const metric = rule.type === 'library' ? (rule.metric ?? '') : rule.type
  const finding = { key, element, metric, severity, custom, fieldIds: [] }
  if (placed.declared !== undefined) return planDeclared(placed, finding, table)
  const [query] = JSON.parse(rule.measures) as readonly [unknown]
  if (rule.type === 'sql' && typeof query === 'string' && !isOurs)
    return { ...finding, outcome: 'not_run', reason: 'dialect' }
  if (rule.type !== 'library' && rule.type !== 'sql')
    return { ...finding, outcome: 'not_run', reason: rule.type }
  try {
    return { ...placed, severity, ...measureOf(placed, table) }
  } catch (thrown) {
    return { ...finding, outcome: 'error', reason: planProblem(thrown) }
  }
}

/** What the schema declares and cannot be counted is on record by its reason, and stops no run. */
function planDeclared(
  placed: PlacedRule,
  finding: Omit<CheckFinding, 'outcome'>,
  table: SystemTable,
): PlannedCheck | CheckFinding {
  const { severity, metric } = finding
  try {
    return { ...placed, severity, ...measureOf(placed, table), metric }
  } catch (thrown) {
    // The only thing that can be wrong with these is a type that statements do not read.
    const isOfType = thrown instanceof Fault && ['required', 'unique'].includes(metric)
    const reason = isOfType ? 'type' : planProblem(thrown)
    return { ...finding, outcome: unmeasurable.has(reason) ? 'not_run' : 'error', reason }
  }
}

/** What a rule is planned by: a table that is open, or one of which the columns are known. */
type RuleTable = Pick<SystemTable, 'columns' | 'relation' | 'check'>

/**
 * How a rule of the type `library` or `sql` is measured. It is compiled alone, so that one that cannot be compiled stops
 * no other.
 * @throws MetricProblem, RangeError, Fault with a SQLSTATE
 */
export function measureOf(
  { rule, element, declared }: PlacedRule,
  table: RuleTable,
): Pick<PlannedCheck, 'metric' | 'measure' | 'fieldIds'> {
  if (declared !== undefined) {
    const { measure, fieldIds, isPlain } = declaredMetric(declared, table)
    if (!isPlain) table.check(textOf(measure, table.relation))
    return { metric: declared.word, measure, fieldIds }
  }
  const [query, given] = JSON.parse(rule.measures) as readonly [unknown, unknown]
  const column = columnNamed(table, element)
  if (rule.type === 'sql') {
    const text = ownStatement(String(query ?? ''), table.relation, column)
    const { fieldIds, types } = table.check(text)
    assertNumber(types)
    return { metric: rule.type, measure: { kind: 'own', text }, fieldIds }
  }
  const metric = standardMetrics[rule.metric ?? ''] ?? rule.metric ?? ''
  const columns =
    metric === 'duplicateValues' ? keyColumns(table, column, argumentsOf(given)) : column ? [column] : []
  const measure = metricOf(metric, columns, argumentsOf(given), table.relation)
  table.check(textOf(measure, table.relation))
  return { metric, measure, fieldIds: columns.map(({ fieldId }) => fieldId) }
}

function textOf(measure: Metric, relation: string): string {
  return measure.kind === 'scan' ? `SELECT ${measure.expression} FROM ${relation}` : measure.text
}

const numberTypes = new Set<SqlType>(['bool', 'int2', 'int4', 'int8', 'numeric', 'float4', 'float8'])

/** A text would be a value of the data, and results hold none. @throws MetricProblem */
function assertNumber(types: readonly SqlType[]): void {
  const [type] = types
  if (type === undefined || types.length > 1) throw new MetricProblem('not one value')
  if (!numberTypes.has(type)) throw new MetricProblem('not a number')
}

/** Names of earlier versions of the standard. */
const standardMetrics: Readonly<Record<string, string>> = {
  ...{ duplicateCount: 'duplicateValues', nullCount: 'nullValues', nullCheck: 'nullValues' },
  ...{ row_count: 'rowCount', unique: 'duplicateValues' },
}

function argumentsOf(given: unknown): MetricArguments {
  return typeof given === 'object' && given !== null ? (given as MetricArguments) : {}
}

/** @throws MetricProblem */
function columnNamed({ columns }: RuleTable, name: string): SystemColumn | undefined {
  if (name === '') return undefined
  const found = columns.find((column) => column.name === name)
  if (found === undefined) throw new MetricProblem('no column')
  return found
}

/** @throws MetricProblem */
function keyColumns(
  table: RuleTable,
  column: SystemColumn | undefined,
  { properties }: MetricArguments,
): readonly SystemColumn[] {
  if (column !== undefined && properties === undefined) return [column]
  if (!Array.isArray(properties) || properties.length === 0) throw new MetricProblem('arguments')
  return properties.flatMap((name: unknown) => columnNamed(table, String(name)) ?? [])
}

/** Why a rule cannot be measured: a word of ours, or a SQLSTATE. */
function planProblem(thrown: unknown): string {
  if (thrown instanceof MetricProblem) return thrown.message
  if (thrown instanceof RangeError) return 'arguments'
  if (thrown instanceof Fault) return String(thrown.members?.sqlstate ?? thrown.kind)
  throw thrown
}
