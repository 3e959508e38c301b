/**
 * Says what a change of a contract means: for consumers, for producers, and for who may see what. A pure function over
 * two models, by field id where the table exists, else by the document's ids, else by name.
 */

import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import type { ColumnUse } from '../../store/semantics/column-uses.ts'
import type { ContractModel, ModelSchema, ModelSla } from '../../wire/odcs/model.ts'
import { accessPlanFindings } from './access-plan-findings.ts'
import {
  accepted,
  type Finding,
  finding,
  harmless,
  loosened,
  protection,
  replaced,
  tightened,
  undecided,
} from './finding.ts'
import { metricFindings } from './metric-findings.ts'
import { ownerFindings } from './owner-findings.ts'
import { type FieldIds, propertyFindings, qualityFindings, relationshipFindings } from './properties.ts'
import {
  additionalColumnsFindings,
  commitModeFindings,
  policyFindings,
  protectionFindings,
  purposeFindings,
} from './protections.ts'
import { slaChange } from './thresholds.ts'

/** Field ids of each table's columns, by tableKey. */
type TableFieldIds = ReadonlyMap<string, FieldIds>

export interface ClassifyOptions {
  readonly fieldIdsBefore?: TableFieldIds
  readonly fieldIdsAfter?: TableFieldIds
  /** What of the semantic layer reads the columns. */
  readonly uses?: readonly ColumnUse[]
  /** Of the tags that come and go with the newer version, whatever the older one was. */
  readonly tags?: readonly Finding[]
}

/**
 * Compares two versions of a contract.
 * @param before undefined for a first version, which breaks nobody and opens its tables
 */
export function classify(
  before: ContractModel | undefined,
  after: ContractModel,
  { fieldIdsBefore = new Map(), fieldIdsAfter = new Map(), uses = [] }: ClassifyOptions = {},
): readonly Finding[] {
  const findings: Finding[] = []
  const matched = new Set<ModelSchema>()
  const idsOf = (all: TableFieldIds, table: TableRef | undefined) => (table && all.get(tableKey(table))) ?? {}
  for (const old of before?.schemas ?? []) {
    const now = matchOf(old, after)
    if (now === undefined) {
      findings.push(finding(old.name, 'object-removed', loosened, `The object ${old.name} is removed`))
      continue
    }
    matched.add(now)
    const side = { properties: old.properties, fieldIds: idsOf(fieldIdsBefore, old.table) }
    const ofColumns = propertyFindings(old.name, side, {
      properties: now.properties,
      fieldIds: idsOf(fieldIdsAfter, now.table),
    })
    const ofTable = uses.filter(({ table }) => old.table && tableKey(old.table) === tableKey(table))
    findings.push(
      ...schemaFindings(old, now),
      ...ofColumns,
      // A column that no version was bound to is the one that has its name now.
      ...metricFindings(
        old.name,
        ofColumns,
        { ...side, fieldIds: { ...idsOf(fieldIdsAfter, old.table), ...side.fieldIds } },
        ofTable,
      ),
    )
  }
  if (before !== undefined)
    for (const { name } of after.schemas.filter((schema) => !matched.has(schema)))
      findings.push(finding(name, 'object-added', tightened, `The object ${name} is added`))
  return [
    ...findings,
    ...opened(before, after),
    ...slaFindings(before, after),
    ...termFindings(before, after),
  ]
}

function matchOf(old: ModelSchema, { schemas }: ContractModel): ModelSchema | undefined {
  const { table, id } = old
  const byTable = table && schemas.find((one) => one.table && tableKey(one.table) === tableKey(table))
  const byId = id === undefined ? undefined : schemas.find((one) => one.id === id)
  return byTable ?? byId ?? schemas.find(({ name }) => name === old.name)
}

function schemaFindings(old: ModelSchema, now: ModelSchema): readonly Finding[] {
  const at = old.name
  const keyOf = ({ properties }: ModelSchema) =>
    properties.filter(({ primaryKey }) => primaryKey).map(({ id, name }) => id ?? name)
  const [was, is] = [keyOf(old).toSorted(), keyOf(now).toSorted()]
  const moved = (old.table && tableKey(old.table)) !== (now.table && tableKey(now.table))
  const renamed = (old.physicalName ?? old.name) !== (now.physicalName ?? now.name)
  return [
    ...(moved ? [finding(at, 'table-changed', replaced, 'The object describes another table')] : []),
    ...(renamed ? [finding(at, 'object-renamed', replaced, 'The object has another physical name')] : []),
    ...(Bun.deepEquals(was, is)
      ? []
      : [
          finding(
            at,
            'key-changed',
            replaced,
            `The primary key is (${is.join(', ')}) instead of (${was.join(', ')})`,
          ),
        ]),
    ...relationshipFindings(at, old.relationships, now.relationships),
    ...qualityFindings(at, old.quality, now.quality),
    ...protectionFindings(at, 'row filter', old.rowFilters, now.rowFilters),
    ...commitModeFindings(at, old.mode, now.mode),
    ...additionalColumnsFindings(at, old, now),
    ...policyFindings(at, old.policies, now.policies),
    ...(Bun.deepEquals(old.pin, now.pin)
      ? []
      : [finding(at, 'pin-changed', { ...harmless, consumer: 'warning' }, 'Readers see another snapshot')]),
    ...(old.description === now.description
      ? []
      : [finding(at, 'description-changed', harmless, 'The description changes')]),
  ]
}

/** A table that comes under a contract becomes readable. */
function opened(before: ContractModel | undefined, after: ContractModel): readonly Finding[] {
  const were = new Set(governing(before).map(({ table }) => tableKey(table)))
  return governing(after)
    .filter(({ table }) => !were.has(tableKey(table)))
    .map(({ name, table }) => {
      const message = `The table ${[...table.namespace, table.name].join('.')} becomes readable`
      return protection(name, 'table-opened', 'loosened', message)
    })
}

function slaFindings(before: ContractModel | undefined, after: ContractModel): readonly Finding[] {
  if (before === undefined) return []
  const key = ({ property, element }: ModelSla) => [property, element ?? ''].join(' ').trim()
  const keys = new Set([...before.sla, ...after.sla].map(key))
  return [...keys].flatMap((name) => {
    const [old, now] = [
      before.sla.find((one) => key(one) === name),
      after.sla.find((one) => key(one) === name),
    ]
    const direction = old === undefined ? 'tightened' : now === undefined ? 'loosened' : slaChange(old, now)
    return accepted('', 'sla', direction, `The service level ${name} changes`)
  })
}

function termFindings(before: ContractModel | undefined, after: ContractModel): readonly Finding[] {
  if (before === undefined) return []
  const modes = [
    ...commitModeFindings('', before.mode, after.mode),
    ...policyFindings('', before.policies, after.policies),
    ...accessPlanFindings(before.access, after.access),
    ...ownerFindings(before.contacts, after.contacts),
    ...purposeFindings(before.purposes, after.purposes),
  ]
  if (before.compatibility === after.compatibility) return modes
  return [
    ...modes,
    finding(
      '',
      'compatibility-changed',
      undecided,
      `The compatibility is ${after.compatibility} instead of ${before.compatibility}`,
    ),
  ]
}
