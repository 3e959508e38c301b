/**
 * Turns what stewards declared into the columns of a plan. The rule of a column stands above those of its tags; a column
 * that no rule names is kept. What cannot be carried out is a problem, never a column that is kept.
 */

import type { StoredColumn } from '../core/governance.ts'
import { chooseMask } from '../core/mask.ts'
import type { SchemaColumn } from '../core/table-schema.ts'
import type { TransformRule } from '../core/transform-rule.ts'
import type { StoredRule } from '../store/transform/rules.ts'
import { type ColumnRule, problemOf, subjectTypes } from '../transform/plan.ts'

/** What is known of a table when its plan is made. */
export interface PlannedTable {
  /** Of the schema that is written. */
  readonly schema: readonly SchemaColumn[]
  /** Field ids by which rows are found or placed: of partitions, sort orders and identifiers. */
  readonly keyFieldIds: ReadonlySet<number>
  /** As the graph knows them. */
  readonly governed: readonly StoredColumn[]
  readonly rules: readonly StoredRule[]
  readonly scopeVersions: ReadonlyMap<string, number>
}

/** Why a column cannot be protected as declared. */
export interface ColumnProblem {
  readonly column: string
  /** The end of a sentence. */
  readonly why: string
}

export interface ResolvedTable {
  readonly columns: readonly ColumnRule[]
  readonly problems: readonly ColumnProblem[]
}

/** The columns of a plan, and what stands in its way. */
export function resolveColumns(table: PlannedTable): ResolvedTable {
  const columns: ColumnRule[] = []
  const problems: ColumnProblem[] = []
  for (const column of table.schema) {
    const resolved = resolveColumn(table, column)
    if (typeof resolved === 'string') problems.push({ column: column.name, why: resolved })
    else columns.push(resolved)
  }
  return { columns, problems }
}

/** @returns the rule, or why there is none */
function resolveColumn(table: PlannedTable, column: SchemaColumn): ColumnRule | string {
  const { fieldId, name, required } = column
  const base = { field_id: fieldId, name, type: planType(column), required }
  const known = table.governed.find((one) => one.fieldId === fieldId)
  if (known === undefined) return 'it is not known yet: retry after the commit that added it was recorded'
  const nested = table.governed.filter(({ fieldId: id }) => column.nestedIds.includes(id))
  if (nested.some((one) => candidatesFor(table.rules, one).length > 0))
    return 'nested fields cannot be protected'
  const candidates = candidatesFor(table.rules, known)
  const [first] = candidates
  if (first === undefined) return { ...base, action: 'keep' }
  const meant = new Set(candidates.map(({ rule, tag }) => JSON.stringify(filled(rule, tag))))
  if (meant.size > 1) return 'its tags say different things: declare a rule of the column'
  const {
    action,
    mask,
    method,
    scope,
    alphabet,
    subject_key_of: of,
    subject_kind: kind,
  } = filled(first.rule, first.tag)
  if (of !== undefined && !namesSubjects(table, column, of))
    return `its subject column ${of} is not another column of the table of type string, int or long`
  const chosen = action === 'mask' ? (mask ?? maskOfReaders(known)) : undefined
  if (action === 'mask' && chosen === undefined) return 'no mask of reading applies to it: name a mask'
  const keyed = method !== undefined && scope !== undefined
  const rule = {
    ...base,
    action,
    ...(chosen !== undefined && { mask: chosen }),
    ...(keyed && { method, scope, kid: `k${table.scopeVersions.get(scope) ?? 1}` }),
    ...(alphabet !== undefined && { alphabet }),
    ...(of !== undefined && { subject_key_of: of, subject_kind: kind ?? of }),
  }
  const problem = problemOf(rule)
  if (problem !== undefined) return problem
  if (method === 'gcm' && table.keyFieldIds.has(fieldId))
    return 'random encryption of a partition, sort or identifier column would make each row its own'
  return rule as unknown as ColumnRule
}

function namesSubjects({ schema }: PlannedTable, { name }: SchemaColumn, of: string): boolean {
  const subject = schema.find((column) => column.name === of)
  return subject !== undefined && of !== name && subjectTypes.includes(planType(subject))
}

/** The column's own rule, else those of its tags. */
function candidatesFor(rules: readonly StoredRule[], column: StoredColumn): readonly StoredRule[] {
  const own = rules.filter(({ fieldId }) => fieldId === column.fieldId)
  return own.length > 0 ? own : rules.filter(({ tag }) => tag !== undefined && column.tags.includes(tag))
}

function filled(rule: TransformRule, tag: string | undefined): TransformRule {
  if (rule.action === 'mask' || rule.action === 'redact') return rule
  const scope = rule.scope ?? tag
  return { ...rule, ...(scope !== undefined && { scope }) }
}

/** The mask of a reader without roles. */
function maskOfReaders({ masks, type, required }: StoredColumn): string | undefined {
  return chooseMask(masks, type, required).mask?.action
}

function planType({ type }: SchemaColumn): string {
  const text = typeof type === 'string' ? type : type.type
  return problemOf({ type: text, required: false, action: 'keep' }) === undefined ? text : 'unknown'
}
