/**
 * Says of each field of a document what Covenant does with it, so that nothing looks enforced that is not. Fields of
 * list items are counted together, but for the objects of `schema`, which differ by whether they name a table.
 */

import { isJsonObject, type JsonValue } from '../../base/json.ts'
import { type CommitMode, type ContractModel, type ModelPolicy, shadowDays } from './model.ts'
import type { ContractDocument } from './read-document.ts'

export const fieldOutcomes = ['enforced', 'stored', 'ignored'] as const
/**
 * `enforced`: a request that breaks it is refused or altered. `stored`: shown, or compared with other versions, and
 * enforced nowhere. `ignored`: kept in the document, and read by nothing here.
 */
type FieldOutcome = (typeof fieldOutcomes)[number]

export interface ReportedField {
  /** As `schema[0].properties[].required`. */
  readonly path: string
  readonly outcome: FieldOutcome
  /** How often the field is there. */
  readonly count: number
  /** It is enforced so many days after the contract begins to govern a table; absent: at once. */
  readonly afterDays?: number
}

const ours = '.customProperties.covenant'
const schemaPath = /^schema\[(\d+)\]/

/** Enforced where the object of `schema` names a table; the rest of the path. */
const enforcedOfTable: ReadonlySet<string> = new Set([
  `${ours}.table`,
  `${ours}.pin`,
  `${ours}.rowFilters`,
  `.properties[]${ours}.masks`,
  `.properties[]${ours}.rowFilters`,
])

/** Refused to commits that do not keep it. A key or a required column is kept only where the table has it so. */
const enforcedOfCommits: ReadonlySet<string> = new Set(
  ['name', 'physicalName', 'logicalType', 'physicalType'].map((name) => `.properties[].${name}`),
)

const storedOfSchema: ReadonlySet<string> = new Set([
  `${ours}.mode`,
  `${ours}.tests`,
  `${ours}.reconciliation`,
  ...['name', 'id', 'physicalName', 'description', 'relationships', 'quality'].map((name) => `.${name}`),
  ...[
    ...['name', 'id', 'physicalName', 'description', 'logicalType', 'physicalType', 'required', 'unique'],
    ...['primaryKey', 'primaryKeyPosition', 'enum', 'logicalTypeOptions', 'relationships', 'quality'],
  ].map((name) => `.properties[].${name}`),
])

const stored: ReadonlySet<string> = new Set([
  ...['apiVersion', 'kind', 'id', 'version', 'slaProperties'],
  ...['compatibility', 'consumers', 'mode'].map((name) => `customProperties.covenant.${name}`),
])

/** The fields of a document, in their order. */
export function reportFields({ value }: ContractDocument, model: ContractModel): readonly ReportedField[] {
  const counts = new Map<string, number>()
  const add = (path: string) => counts.set(path, (counts.get(path) ?? 0) + 1)
  for (const [name, member] of value) {
    if (name === 'schema' && Array.isArray(member))
      for (const [index, schema] of member.entries()) addMembers(schema, `schema[${index}]`, add)
    else if (name === 'customProperties') addCustom(member, name, add)
    else add(name)
  }
  return [...counts].map(([path, count]) => {
    const outcome = outcomeOf(path, model)
    return {
      path,
      outcome,
      count,
      ...(outcome === 'enforced' && isEnforcedLater(path, model) && { afterDays: shadowDays }),
    }
  })
}

function addMembers(value: JsonValue, at: string, add: (path: string) => void): void {
  if (!isJsonObject(value)) return
  for (const [name, member] of value) {
    const path = `${at}.${name}`
    if (name === 'properties' && Array.isArray(member))
      for (const one of member) addMembers(one, `${at}.properties[]`, add)
    else if (name === 'customProperties') addCustom(member, path, add)
    else add(path)
  }
}

function addCustom(value: JsonValue, at: string, add: (path: string) => void): void {
  for (const one of Array.isArray(value) ? (value as readonly JsonValue[]) : []) {
    const property = isJsonObject(one) ? String(one.get('property')) : ''
    const inner = isJsonObject(one) ? one.get('value') : undefined
    if (property === 'covenant' && isJsonObject(inner))
      for (const name of inner.keys()) add(`${at}.covenant.${name}`)
    else add(`${at}.${property}`)
  }
}

function outcomeOf(path: string, model: ContractModel): FieldOutcome {
  const index = schemaPath.exec(path)?.[1]
  if (index === undefined) {
    if (path === 'customProperties.covenant.policies')
      return policiesOutcome(model.policies, model.mode, model.schemas)
    return stored.has(path) ? 'stored' : 'ignored'
  }
  // Fields of nested properties are those of properties, but masks and filters are refused there.
  const rest = path.replace(schemaPath, '').replace(/^(\.properties\[\])+/, '.properties[]')
  const schema = model.schemas[Number(index)]
  const isTable = schema?.table !== undefined
  const refuses = isTable && (schema.mode ?? model.mode ?? 'enforce') === 'enforce'
  if (rest === `${ours}.policies`)
    return policiesOutcome(schema?.policies, schema?.mode ?? model.mode, schema ? [schema] : [])
  if (isTable && enforcedOfTable.has(rest)) return 'enforced'
  if (refuses && enforcedOfCommits.has(rest)) return 'enforced'
  if (rest === `${ours}.additionalColumns`)
    return refuses && schema.additionalColumns === 'deny' ? 'enforced' : 'stored'
  return storedOfSchema.has(rest) ? 'stored' : 'ignored'
}

/** Whether a field of which commits are refused waits for the days of a contract without a mode. */
function isEnforcedLater(path: string, model: ContractModel): boolean {
  const index = schemaPath.exec(path)?.[1]
  const schema = index === undefined ? undefined : model.schemas[Number(index)]
  const rest = path.replace(schemaPath, '').replace(/^(\.properties\[\])+/, '.properties[]')
  if (rest === `${ours}.policies` || path === 'customProperties.covenant.policies') {
    const policies = (schema === undefined ? model.policies : schema.policies) ?? []
    return policies.every(({ mode }) => (mode ?? schema?.mode ?? model.mode) !== 'enforce')
  }
  const isOfCommits = enforcedOfCommits.has(rest) || rest === `${ours}.additionalColumns`
  return isOfCommits && schema !== undefined && (schema.mode ?? model.mode) === undefined
}

/** Policies are enforced where one of them may refuse a commit on a table. */
function policiesOutcome(
  policies: readonly ModelPolicy[] = [],
  ofContract: CommitMode | undefined,
  schemas: ContractModel['schemas'],
): FieldOutcome {
  const refuses = policies.some(({ mode }) => (mode ?? ofContract ?? 'enforce') === 'enforce')
  return refuses && schemas.some(({ table }) => table !== undefined) ? 'enforced' : 'stored'
}
