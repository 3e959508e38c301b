/**
 * Saves what a document of another format says, each table and metric as its own change. What is refused is listed with
 * the reason, and what is so already is left alone.
 */

import type { TSchema } from '@sinclair/typebox'
import { Fault } from '../../base/fault.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import { tableName } from '../../core/table-ref.ts'
import { type ReadableSchema, readValue } from '../../http/read-value.ts'
import { SqlError } from '../../query/compile/base/sql-error.ts'
import type { SemanticChange } from '../../store/semantics/changes.ts'
import { saveDocuments } from '../../store/semantics/documents.ts'
import { givenMetric, metricInput } from '../metric-operations.ts'
import { givenModel, modelInput } from '../model-operations.ts'
import { putMetric } from '../put-metric.ts'
import { putTableModel } from '../put-table-model.ts'
import type { DraftMetric, DraftTable, NotCarried, SemanticDraft } from './draft.ts'

export interface ImportResult {
  readonly tables: readonly DraftTable['table'][]
  readonly metrics: readonly string[]
  readonly notCarried: readonly NotCarried[]
}

/**
 * Saves a draft.
 * @throws Fault of the store; what is wrong with the draft is in the result
 */
export async function applyImport(on: SemanticChange, draft: SemanticDraft): Promise<ImportResult> {
  const lost = [...draft.notCarried]
  const tables: DraftTable['table'][] = []
  const metrics: string[] = []
  // KPIs and sets may name metrics of the document, which are saved after the tables that they need.
  const later: DraftTable[] = []
  for (const table of draft.tables) if (await saveTable(on, table, lost, later)) tables.push(table.table)
  for (const metric of draft.metrics) if (await saveMetric(on, metric, lost)) metrics.push(metric.name)
  for (const table of later) await saveTable(on, table, lost)
  if (draft.kept.length > 0) await saveDocuments(on, draft.kept)
  return { tables, metrics, notCarried: lost }
}

/**
 * A model without the parts that are refused, one after the other.
 * @param later where a model of which a KPI or set is refused is put as the document has it, in place of the refusal
 * @returns whether it is in force
 */
async function saveTable(on: SemanticChange, draft: DraftTable, lost: NotCarried[], later?: DraftTable[]) {
  const { at, table, body } = draft
  let rest = body
  for (;;) {
    try {
      const given = givenModel(checked(modelInput, ['namespace', 'table'], rest, at, lost))
      await putTableModel(on, table, given, true)
      return true
    } catch (thrown) {
      const why = reasonOf(thrown)
      const { dimension, relationship, kpi, set } =
        (thrown instanceof Fault ? thrown.members : undefined) ?? {}
      const isLater = later !== undefined && (kpi ?? set) !== undefined
      if (isLater && !later.includes(draft)) later.push(draft)
      const kpis = rest.kpis?.filter(({ name }) => name !== kpi)
      const sets = rest.sets?.filter(({ name }) => name !== set)
      const dimensions = rest.dimensions.filter(({ name }) => name !== dimension)
      const relationships = rest.relationships.filter(({ name }) => name !== relationship)
      const count = [dimensions, relationships, kpis, sets].flatMap((each) => each ?? []).length
      const before = [rest.dimensions, rest.relationships, rest.kpis, rest.sets]
      if (count === before.flatMap((each) => each ?? []).length) {
        lost.push({ at, why: `The table ${tableName(table)} was not carried: ${why}` })
        return false
      }
      if (!isLater) lost.push({ at, why })
      const { time_dimension: time, ...others } = rest
      const keepsTime = time !== undefined && dimensions.some(({ name }) => name === time)
      rest = { ...others, dimensions, relationships, kpis, sets, ...(keepsTime && { time_dimension: time }) }
    }
  }
}

async function saveMetric(on: SemanticChange, { at, name, body }: DraftMetric, lost: NotCarried[]) {
  try {
    const { metric } = readValue(
      { type: 'object', properties: { metric: metricInput.properties.metric } },
      new Map([['metric', name]]),
      '',
    ) as { readonly metric: string }
    await putMetric(on, metric, givenMetric(checked(metricInput, ['metric'], body, at, lost)), true)
    return true
  } catch (thrown) {
    lost.push({ at, why: `The metric ${name} was not carried: ${reasonOf(thrown)}` })
    return false
  }
}

/** A body as the operation would read it. Members that it does not know are listed. @throws Fault `bad_request` */
function checked<
  T extends { readonly properties: Readonly<Record<string, TSchema>>; readonly static: unknown },
>(schema: T, fromPath: readonly string[], body: object, at: string, lost: NotCarried[]): T['static'] {
  const names = Object.keys(schema.properties).filter((name) => !fromPath.includes(name))
  const required = ((schema as ReadableSchema).required ?? []).filter((name) => names.includes(name))
  const value = parseJson(JSON.stringify(body))
  if (!isJsonObject(value)) throw new Fault('bad_request', 'It is not an object.')
  for (const name of value.keys())
    if (!names.includes(name)) lost.push({ at: `${at}/${name}`, why: 'It has no meaning here' })
  const properties = Object.fromEntries(names.map((name) => [name, schema.properties[name] ?? {}]))
  return readValue({ type: 'object', properties, required } as ReadableSchema, value, '')
}

/** What a person can do something about; the rest is thrown on. */
function reasonOf(thrown: unknown): string {
  const listed = ['bad_request', 'not_found', 'conflict', 'unprocessable']
  if (thrown instanceof SqlError) return thrown.publicMessage.replace(/\.$/, '')
  if (thrown instanceof Fault && listed.includes(thrown.kind)) return thrown.publicMessage.replace(/\.$/, '')
  throw thrown
}
