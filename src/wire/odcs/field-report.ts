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
    ...[
      'primaryKey',
      'primaryKeyPosition',
      'enum',
      'logicalTypeOptions',
      'relationships',
      'quality',
      'classification',
    ],
  ].map((name) => `.properties[].${name}`),
])

const stored: ReadonlySet<string> = new Set([
  ...['apiVersion', 'kind', 'id', 'version', 'slaProperties', 'description', 'team', 'support'],
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
    const { outcome, ...later } = outcomeOf(path, model)
    return { path, outcome, count, ...later }
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

type Outcome = Pick<ReportedField, 'outcome' | 'afterDays'>

const [isStored, isIgnored] = [{ outcome: 'stored' }, { outcome: 'ignored' }] as const

function outcomeOf(path: string, model: ContractModel): Outcome {
  const index = schemaPath.exec(path)?.[1]
  if (index === undefined) {
    if (path === 'customProperties.covenant.policies')
      return policiesOutcome(model.policies, model.mode, model.schemas)
    if (['access', 'purposes'].some((name) => path === `customProperties.covenant.${name}`))
      return model.schemas.some(({ table }) => table !== undefined) ? { outcome: 'enforced' } : isStored
    return stored.has(path) ? isStored : isIgnored
  }
  // Fields of nested properties are those of properties, but masks and filters are refused there.
  const rest = path.replace(schemaPath, '').replace(/^(\.properties\[\])+/, '.properties[]')
  const schema = model.schemas[Number(index)]
  const mode = schema?.mode ?? model.mode
  const isTable = schema?.table !== undefined
  const refuses = isTable && (mode ?? 'enforce') === 'enforce'
  if (rest === `${ours}.policies`) return policiesOutcome(schema?.policies, mode, schema ? [schema] : [])
  if (isTable && enforcedOfTable.has(rest)) return { outcome: 'enforced' }
  if (refuses && enforcedOfCommits.has(rest)) return enforcedBy(mode)
  if (rest === `${ours}.additionalColumns`)
    return refuses && schema.additionalColumns === 'deny' ? enforcedBy(mode) : isStored
  return storedOfSchema.has(rest) ? isStored : isIgnored
}

/** Enforced by what refuses commits: after some days where no mode is written. */
function enforcedBy(mode: CommitMode | undefined): Outcome {
  return { outcome: 'enforced', ...(mode === undefined && { afterDays: shadowDays }) }
}

/** Policies are enforced where one of them may refuse a commit on a table, by the first that does. */
function policiesOutcome(
  policies: readonly ModelPolicy[] = [],
  ofContract: CommitMode | undefined,
  schemas: ContractModel['schemas'],
): Outcome {
  const modes = policies.map(({ mode }) => mode ?? ofContract)
  const refuses = modes.some((mode) => (mode ?? 'enforce') === 'enforce')
  if (!refuses || schemas.every(({ table }) => table === undefined)) return isStored
  return enforcedBy(modes.includes('enforce') ? 'enforce' : undefined)
}
