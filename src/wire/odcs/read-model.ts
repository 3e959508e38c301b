/** Reads the model of a contract document that the standard's schema accepts. */

import { cleanText } from '../../base/clean-text.ts'
import { policyKinds } from '../../core/policy.ts'
import { territoryPolicy } from '../../core/territory-owner.ts'
import { readContacts } from '../../core/whom-to-ask.ts'
import { apiVersions, isApiVersion, isWritten } from './api-versions.ts'
import {
  type Compatibility,
  type ContractModel,
  commitModes,
  type ModelConsumer,
  type ModelMask,
  type ModelPolicy,
  type ModelProperty,
  type ModelQuality,
  type ModelRelationship,
  type ModelRowFilter,
  type ModelSchema,
  type ModelSla,
} from './model.ts'
import { type DocumentProblem, DocumentRefusal } from './problem.ts'
import { readAccess } from './read-access.ts'
import { type ContractDocument, plainValue } from './read-document.ts'
import { classificationsOf, declaredInside } from './read-inside.ts'
import { type CovenantLevel, covenantProblems, located } from './validate-document.ts'

type Plain = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const objects = (value: unknown): readonly Plain[] => (Array.isArray(value) ? value.filter(isObject) : [])
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The member where it is text. */
function text<K extends string>(from: Plain, name: K): { readonly [P in K]?: string } {
  const value = textOf(from[name])
  return (value === undefined ? {} : { [name]: value }) as { readonly [P in K]?: string }
}

/** The member where it is one of these. */
function choice<K extends string, V extends string>(from: Plain, name: K, values: readonly V[]) {
  const value = values.find((one) => one === from[name])
  return (value === undefined ? {} : { [name]: value }) as { readonly [P in K]?: V }
}

/** Finds what is wrong with the text of a CEL policy, by offsets. */
export type CheckPolicyText = (
  text: string,
) => readonly { readonly message: string; readonly offset: number }[]

/**
 * Reads the model.
 * @param checkPolicy without it the texts of policies are not checked
 * @throws DocumentRefusal where what the document says to Covenant is malformed
 */
export function readModel(
  document: ContractDocument,
  checkPolicy: CheckPolicyText = () => [],
): ContractModel {
  const plain = plainValue(document.value) as Plain
  const apiVersion = isApiVersion(plain.apiVersion) ? plain.apiVersion : apiVersions[0]
  const base = { apiVersion, version: String(plain.version), compatibility: 'backward' as Compatibility }
  if (!isWritten(apiVersion))
    return { ...base, id: String(plain.uuid), secondApproval: false, schemas: [], sla: [] }
  const reader = new ModelReader(document, checkPolicy)
  const ours = reader.covenant(plain, [], 'contract')
  const consumers = objects(ours.consumers).map(consumerOf)
  const model: ContractModel = {
    ...base,
    id: String(plain.id),
    compatibility: (textOf(ours.compatibility) ?? 'backward') as Compatibility,
    ...(consumers.length > 0 && { consumers }),
    secondApproval: objects(plain.roles).some(
      (role) => (textOf(role.secondLevelApprovers) ?? '').trim() !== '',
    ),
    ...choice(ours, 'mode', commitModes),
    ...reader.access(ours),
    ...purposesOf(ours),
    ...reader.policies(ours, []),
    schemas: objects(plain.schema).map((schema, index) => reader.schema(schema, ['schema', String(index)])),
    sla: objects(plain.slaProperties).map(slaOf),
    ...serverTypesOf(plain.servers),
    ...descriptionOf(plain.description),
    ...contactsOf(plain),
  }
  reader.checkTables(model.schemas)
  if (reader.problems.length > 0) throw new DocumentRefusal(reader.problems)
  return model
}

class ModelReader {
  readonly problems: DocumentProblem[] = []
  readonly #found = new Map<string, readonly string[]>()

  constructor(
    private readonly document: ContractDocument,
    private readonly checkPolicy: CheckPolicyText,
  ) {}

  /** The value of the custom property `covenant`; empty where there is none. */
  covenant(holder: Plain, steps: readonly string[], level: CovenantLevel): Plain {
    const all = Array.isArray(holder.customProperties) ? holder.customProperties : []
    const found = all.flatMap((one, index) =>
      isObject(one) && one.property === 'covenant' && (one.vendor ?? 'covenant') === 'covenant'
        ? [{ value: one.value, at: [...steps, 'customProperties', String(index)] }]
        : [],
    )
    const [first, second] = found
    if (first === undefined) return {}
    if (second !== undefined) {
      this.problems.push(located(this.document, second.at, 'The custom property covenant stands here twice'))
      return {}
    }
    const at = [...first.at, 'value']
    this.#found.set(steps.join('/'), at)
    const problems = covenantProblems(this.document, at, level, first.value)
    this.problems.push(...problems)
    return problems.length === 0 && isObject(first.value) ? first.value : {}
  }

  schema(plain: Plain, steps: readonly string[]): ModelSchema {
    const ours = this.covenant(plain, steps, 'schema')
    const properties = this.#properties(plain.properties, [...steps, 'properties'], '')
    const [table, pin] = [ours.table, ours.pin]
    const schema = {
      name: textOf(plain.name) ?? '',
      ...text(plain, 'id'),
      ...text(plain, 'physicalName'),
      ...text(plain, 'description'),
      ...(isObject(table) && { table: table as unknown as NonNullable<ModelSchema['table']> }),
      ...(isObject(pin) && { pin: pin as unknown as NonNullable<ModelSchema['pin']> }),
      properties,
      relationships: relationshipsOf(plain.relationships),
      quality: objects(plain.quality).map(qualityOf),
      rowFilters: rowFiltersOf(ours.rowFilters),
      ...testing(ours),
      ...choice(ours, 'mode', commitModes),
      ...choice(ours, 'additionalColumns', ['allow', 'warn', 'deny'] as const),
      ...this.policies(ours, steps),
      ...reconciling(ours),
    }
    const protects =
      schema.rowFilters.length > 0 ||
      schema.pin !== undefined ||
      properties.some(({ masks, rowFilters }) => masks.length + rowFilters.length > 0)
    this.#checkUnits(schema.quality, steps)
    if (protects && schema.table === undefined)
      this.#refuse(
        steps,
        'Row filters, masks and a pin need `table`, which names the table that they protect',
      )
    if (schema.reconciliation !== undefined && schema.table === undefined)
      this.#refuse(steps, '`reconciliation` needs `table`, which names the table to compare')
    if (schema.tests !== undefined && schema.table === undefined)
      this.#refuse(steps, 'Policy tests need `table`, which names the table that they are about')
    return schema
  }

  /** The CEL policies of a level, each checked as one that a person saves. */
  policies(ours: Plain, steps: readonly string[]): { readonly policies?: readonly ModelPolicy[] } {
    const policies = objects(ours.policies).map(policyOf)
    const seen = new Set<string>()
    for (const [index, { id, name = id, definitionCel }] of policies.entries()) {
      const at = [...this.#covenantSteps(steps), 'policies', String(index)]
      if (seen.has(id)) this.#refuse([...at, 'id'], `Two policies have the id ${id}`)
      seen.add(id)
      if (name === territoryPolicy) this.#refuse(at, `The policy name ${territoryPolicy} is reserved`)
      for (const { message, offset } of this.checkPolicy(definitionCel))
        this.#refuse(
          [...at, 'definitionCel'],
          `The policy ${id}, at ${offset}: ${message.replace(/\.$/, '')}`,
        )
    }
    return policies.length === 0 ? {} : { policies }
  }

  /** The review plan of the document. */
  access({ access }: Plain): Pick<ContractModel, 'access'> {
    return readAccess(access, (steps, message) =>
      this.#refuse([...this.#covenantSteps([]), 'access', ...steps], message),
    )
  }

  /** Where the value of the custom property `covenant` of a holder is. */
  #covenantSteps(steps: readonly string[]): readonly string[] {
    return this.#found.get(steps.join('/')) ?? steps
  }

  /** A document must not bind one table twice. */
  checkTables(schemas: readonly ModelSchema[]): void {
    const seen = new Set<string>()
    for (const [index, { table }] of schemas.entries()) {
      if (table === undefined) continue
      const key = JSON.stringify([table.namespace, table.name])
      if (seen.has(key)) this.#refuse(['schema', String(index)], 'Two objects name the same table')
      seen.add(key)
    }
  }

  #properties(value: unknown, steps: readonly string[], prefix: string): readonly ModelProperty[] {
    if (!Array.isArray(value)) return []
    return value.flatMap((one: unknown, index): readonly ModelProperty[] => {
      // A measure is computed, and no column.
      if (!isObject(one) || (one.semanticType ?? 'column') === 'measure') return []
      const at = [...steps, String(index)]
      const name = `${prefix}${textOf(one.name) ?? ''}`
      const ours = this.covenant(one, at, 'property')
      const property = propertyOf(one, name, ours)
      this.#checkUnits(property.quality, at)
      if (prefix !== '' && property.masks.length + property.rowFilters.length > 0)
        this.#refuse(at, 'Only a top-level property can have masks and row filters')
      for (const [place, { action, expression }] of property.masks.entries())
        if ((action === 'apply-expression') !== (expression !== undefined))
          this.#refuse(
            [...at, 'masks', String(place)],
            'An expression goes with apply-expression, and with no other',
          )
      return [property, ...this.#properties(one.properties, [...at, 'properties'], `${name}.`)]
    })
  }

  /** A unit that means nothing would be measured as rows. */
  #checkUnits(rules: readonly ModelQuality[], steps: readonly string[]): void {
    for (const [index, { type, metric, unit }] of rules.entries()) {
      if (type !== 'library' || unit === undefined) continue
      const means = unitsOf(metric)
      if (!means.includes(unit.toLowerCase()))
        this.#refuse(
          [...steps, 'quality', String(index), 'unit'],
          `The unit ${unit} means nothing for ${metric ?? 'the rule'}: use ${means.filter((one) => one !== '%').join(' or ')}, or leave it out`,
        )
    }
  }

  #refuse(steps: readonly string[], message: string): void {
    this.problems.push(located(this.document, steps, message))
  }
}

function propertyOf(plain: Plain, name: string, ours: Plain): ModelProperty {
  const position = plain.primaryKeyPosition
  const values = objects(plain.enum).map((entry) => JSON.stringify(entry.value ?? null))
  const inside = declaredInside(plain)
  const classifications = classificationsOf(plain)
  return {
    name,
    ...text(plain, 'id'),
    ...text(plain, 'physicalName'),
    ...text(plain, 'description'),
    ...text(plain, 'logicalType'),
    ...text(plain, 'physicalType'),
    required: plain.required === true,
    unique: plain.unique === true,
    primaryKey: plain.primaryKey === true,
    ...(typeof position === 'number' && position > 0 && { primaryKeyPosition: position }),
    ...(classifications.length > 0 && { classifications }),
    ...(values.length > 0 && { enum: values }),
    options: isObject(plain.logicalTypeOptions) ? { ...plain.logicalTypeOptions } : {},
    ...(inside.length > 0 && { inside }),
    relationships: relationshipsOf(plain.relationships),
    quality: objects(plain.quality).map(qualityOf),
    masks: objects(ours.masks).map(maskOf),
    rowFilters: rowFiltersOf(ours.rowFilters),
  }
}

const list = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')

function relationshipsOf(value: unknown): readonly ModelRelationship[] {
  return objects(value)
    .filter(({ type }) => (type ?? 'foreignKey') === 'foreignKey')
    .map(({ from, to }) => ({ ...(from !== undefined && { from: list(from) }), to: list(to) }))
}

const operators = [
  'mustBe',
  'mustNotBe',
  'mustBeGreaterThan',
  'mustBeGreaterOrEqualTo',
  'mustBeLessThan',
  'mustBeLessOrEqualTo',
  'mustBeBetween',
  'mustNotBeBetween',
]

/** The units in which a metric is measured, in lower case; a count of all rows is no share of them. */
function unitsOf(metric: string | undefined): readonly string[] {
  return metric === 'rowCount' || metric === 'row_count' ? ['rows'] : ['rows', 'percent', '%']
}

function qualityOf(plain: Plain): ModelQuality {
  const type = textOf(plain.type) ?? 'library'
  const metric = textOf(plain.metric) ?? textOf(plain.rule)
  const operator = operators.find((name) => plain[name] !== undefined)
  const { query, engine, implementation } = plain
  const measures = JSON.stringify([
    query ?? null,
    plain.arguments ?? null,
    engine ?? null,
    implementation ?? null,
  ])
  const key = textOf(plain.id) ?? textOf(plain.name) ?? [type, metric ?? '', measures].join(' ')
  return {
    key,
    type,
    ...(metric !== undefined && { metric }),
    ...text(plain, 'unit'),
    ...(operator !== undefined && { operator, threshold: plain[operator] }),
    measures,
    ...text(plain, 'severity'),
    ...text(plain, 'schedule'),
    ...text(plain, 'scheduler'),
  }
}

function slaOf(plain: Plain): ModelSla {
  return {
    property: textOf(plain.property) ?? '',
    value: plain.value ?? null,
    ...text(plain, 'unit'),
    ...text(plain, 'element'),
    ...text(plain, 'schedule'),
    ...text(plain, 'scheduler'),
  }
}

/** Characters of each text of a description that are stored beside the document. */
const descriptionCharsMax = 2_000

function descriptionOf(value: unknown): Pick<ContractModel, 'description'> {
  if (!isObject(value)) return {}
  const texts = ['purpose', 'usage', 'limitations'].flatMap((name) => {
    const found = cleanText(textOf(value[name])?.trim() ?? '', descriptionCharsMax)
    return found === '' ? [] : [[name, found] as const]
  })
  return texts.length === 0 ? {} : { description: Object.fromEntries(texts) }
}

function contactsOf({ team, support }: Plain): Pick<ContractModel, 'contacts'> {
  const contacts = readContacts(team, support)
  return contacts === undefined ? {} : { contacts }
}

function serverTypesOf(value: unknown): Pick<ContractModel, 'serverTypes'> {
  const types = objects(value).flatMap(({ type }) => textOf(type) ?? [])
  return types.length === 0 ? {} : { serverTypes: [...new Set(types)].toSorted() }
}

/** What the table is compared with; absent where that is nothing. */
function reconciling(ours: Plain): Pick<ModelSchema, 'reconciliation'> {
  const counterparts = objects(ours.reconciliation)
  return counterparts.length === 0
    ? {}
    : { reconciliation: counterparts as unknown as NonNullable<ModelSchema['reconciliation']> }
}

/** Policy tests, which our schema has checked. */
function testing({ tests }: Plain): Pick<ModelSchema, 'tests'> {
  return Array.isArray(tests) ? { tests: tests as NonNullable<ModelSchema['tests']> } : {}
}

/** What our schema has checked. */
function purposesOf({ purposes }: Plain): Pick<ContractModel, 'purposes'> {
  return purposes === undefined ? {} : { purposes: purposes === 'any' ? purposes : list(purposes) }
}

function consumerOf(plain: Plain): ModelConsumer {
  return { name: textOf(plain.name) ?? '', ...text(plain, 'contact') }
}

function policyOf(plain: Plain): ModelPolicy {
  return {
    id: textOf(plain.id) ?? '',
    kind: policyKinds.find((kind) => kind === plain.kind) ?? 'schema',
    ...choice(plain, 'mode', commitModes),
    ...text(plain, 'name'),
    ...text(plain, 'message'),
    definitionCel: textOf(plain.definitionCel) ?? '',
  }
}

function maskOf(plain: Plain): ModelMask {
  return {
    id: textOf(plain.id) ?? '',
    action: textOf(plain.action) ?? '',
    ...text(plain, 'expression'),
    exemptRoles: list(plain.exemptRoles ?? []),
  }
}

function rowFiltersOf(value: unknown): readonly ModelRowFilter[] {
  return objects(value).map((plain) => ({
    id: textOf(plain.id) ?? '',
    expression: textOf(plain.expression) ?? '',
    exemptRoles: list(plain.exemptRoles ?? []),
  }))
}
