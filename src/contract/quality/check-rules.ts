/**
 * Checks the quality rules of a document when it is saved, by the compiler that measures them: patterns, SQL, columns,
 * and that a statement gives one number. Where the columns of a table are not recorded yet, those that the document
 * declares stand for them, and only what is wrong whatever their types are is refused.
 */

import { Fault } from '../../base/fault.ts'
import { eachInTurns } from '../../base/in-turns.ts'
import { currentSchema } from '../../core/seen-table.ts'
import { quotedTable } from '../../core/system-read.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import { columnOf, type GoverningSchema, governing } from '../../store/contract/put-in-force.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'
import { pointerOf } from '../../wire/odcs/pointer.ts'
import type { DocumentProblem } from '../../wire/odcs/problem.ts'
import type { ChangeContext } from '../change.ts'
import { admittedTypes } from '../commit/admitted-types.ts'
import { refused } from '../document/read.ts'
import { MetricProblem } from './measure.ts'
import { unmeasurable } from './measure-declared.ts'
import { measureOf, type PlacedRule, placedRules, speaksOurs } from './plan-checks.ts'
import { type Reference, referencesOf } from './references.ts'

/** Rules of a document that are checked; further ones are found out when they are measured. */
const rulesMax = 2_000

/**
 * Refuses a model with a rule that could never be measured.
 * @throws Fault `unprocessable` with a problem for each such rule; of the store
 */
export async function assertRules(on: ChangeContext, model: ContractModel): Promise<void> {
  const { checkStatement } = on
  const references = governing(model).flatMap((schema) =>
    referencesOf(model, schema).map((reference) => ({ schema, reference })),
  )
  const schemas = governing(model).filter((schema) => placedRules(schema).length > 0)
  if (checkStatement === undefined || schemas.length + references.length === 0) return
  const targets = references.flatMap(({ reference }) => reference.target?.table ?? [])
  const tables = [...schemas.map(({ table }) => table), ...targets]
  const governances = await loadGovernances(
    on.store,
    on.tenant,
    tables.map(({ namespace, name }) => ({ namespace, name })),
  )
  const problems: DocumentProblem[] = references.flatMap(({ schema, reference }) => {
    const governance = reference.target && governances.get(tableKey(reference.target.table))
    const problem = referenceProblem(model, reference, governance ? currentSchema(governance) : [])
    return problem === undefined ? [] : [placedProblem(model, schema, reference, problem)]
  })
  const rules = schemas.flatMap((schema) => {
    const key = tableKey(schema.table)
    const found = on.catalogSchemas?.find(({ table }) => tableKey(table) === key)
    const governance = governances.get(key)
    const stored = found?.columns ?? (governance === undefined ? [] : currentSchema(governance))
    const columns = columnsOf(schema, stored)
    return placedRules(schema)
      .filter(({ declared }) => declared === undefined || canBeWrong.has(declared.word))
      .map((placed) => ({ schema, placed, columns }))
  })
  await eachInTurns(rules.slice(0, rulesMax), undefined, ({ schema, placed, columns }) => {
    const problem = problemOf(checkStatement, schema.table, columns, placed, speaksOurs(model))
    if (problem !== undefined) problems.push(placedProblem(model, schema, placed, problem))
  })
  if (problems.length > 0) throw refused(problems)
}

/**
 * @param stored the columns that are recorded of the table it names; none where that is not recorded
 * @returns why the reference can never be measured; undefined where it may be
 */
function referenceProblem(
  model: ContractModel,
  { problem, target }: Reference,
  stored: readonly SchemaColumn[],
): string | undefined {
  // Columns of a table of the document may be added with it.
  const isOurs = governing(model).some(({ table }) => target && tableKey(table) === tableKey(target.table))
  if (target === undefined || stored.length === 0 || isOurs) return problem
  const missing = target.columns.find((column) => !stored.some(({ name }) => name === column))
  return missing === undefined ? undefined : `${tableName(target.table)} has no column ${missing}`
}

/** What a schema declares and no type of a column can make right. */
const canBeWrong: ReadonlySet<string> = new Set([
  ...['enum', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
])

interface RuleColumns {
  readonly columns: readonly SchemaColumn[]
  /** `recorded`: these are the table's. `joined`: and others that the document adds. `declared`: only these are known. */
  readonly from: 'recorded' | 'joined' | 'declared'
}

/** The columns of a table beside those that its document declares. */
function columnsOf({ properties }: GoverningSchema, stored: readonly SchemaColumn[]): RuleColumns {
  const names = new Set(stored.map(({ name }) => name))
  const top = properties.filter((property) => !property.name.includes('.'))
  const added = top
    .filter((property) => !names.has(columnOf(property)))
    .map((property, index): SchemaColumn => {
      const type = admittedTypes(property)?.exact[0] ?? 'string'
      const nested = ['struct', 'list', 'map', 'variant'].includes(type)
      return {
        ...{ fieldId: -1 - index, name: columnOf(property), required: false, nestedIds: [] },
        type: nested ? 'string' : type,
      }
    })
  const from = stored.length === 0 ? 'declared' : added.length > 0 ? 'joined' : 'recorded'
  return { columns: [...stored, ...added], from }
}

/** SQLSTATEs of what no type of a column can make right: syntax, patterns, no read, what is not served. */
const always = new Set(['42601', '2201B', '25006', '0A000', '42P01'])

/** @returns why the rule can never be measured; undefined where it may be */
function problemOf(
  check: NonNullable<ChangeContext['checkStatement']>,
  table: TableRef,
  { columns, from }: RuleColumns,
  placed: PlacedRule,
  isOurs: boolean,
): string | undefined {
  const { rule, declared } = placed
  if (declared === undefined && rule.type !== 'library' && (rule.type !== 'sql' || !isOurs)) return undefined
  try {
    measureOf(placed, {
      columns,
      relation: quotedTable(table),
      check: (text) => check(table, columns, text),
    })
    return undefined
  } catch (thrown) {
    if (thrown instanceof MetricProblem) {
      // Documents of earlier versions of the standard have metrics of their own, which are on record and not measured.
      if (thrown.message === 'unknown metric') return undefined
      if (declared !== undefined && unmeasurable.has(thrown.message)) return undefined
      if (thrown.message === 'no column' && from !== 'recorded') return undefined
      return words[thrown.message] ?? thrown.message
    }
    if (thrown instanceof RangeError) return words.arguments
    if (!(thrown instanceof Fault)) throw thrown
    const state = String(thrown.members?.sqlstate ?? '')
    const isCertain = from === 'recorded' || always.has(state) || (from === 'joined' && state === '42703')
    return isCertain ? thrown.publicMessage.replace(/\.$/, '') : undefined
  }
}

/** What the words of a {@link MetricProblem} mean. */
const words: Readonly<Record<string, string>> = {
  'no column': 'it names a column that the table does not have',
  arguments: 'its arguments are missing or malformed',
  'not one value': 'its statement must give one column',
  'not a number': 'its statement must give a number or a boolean',
  'too many values': 'it lists too many values',
}

function placedProblem(
  model: ContractModel,
  { table }: GoverningSchema,
  { key, element }: Pick<PlacedRule, 'key' | 'element'>,
  problem: string,
): DocumentProblem {
  const index = model.schemas.findIndex(
    (one) => one.table !== undefined && tableKey(one.table) === tableKey(table),
  )
  const of = element === '' ? tableName(table) : `${tableName(table)}.${element}`
  return {
    path: pointerOf(['schema', String(index)]),
    message: `The quality rule ${key} of ${of} cannot be measured: ${problem}`,
  }
}
