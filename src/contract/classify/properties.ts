/** Compares the properties of an object: matches each with what it was before, then compares what it promises. */

import { columnOf } from '../../store/contract/put-in-force.ts'
import type { ModelProperty, ModelQuality, ModelRelationship } from '../../wire/odcs/model.ts'
import { accepted, type Finding, finding, harmless, loosened, replaced, tightened } from './finding.ts'
import { protectionFindings } from './protections.ts'
import { boundChange, limitChange, thresholdChange } from './thresholds.ts'
import { typeFindings } from './types.ts'

/** Field ids of columns by name, where the table exists. */
export type FieldIds = Readonly<Record<string, number>>

export interface PropertySide {
  readonly properties: readonly ModelProperty[]
  readonly fieldIds: FieldIds
}

/** The findings about the properties of the object `object`. */
export function propertyFindings(
  object: string,
  before: PropertySide,
  after: PropertySide,
): readonly Finding[] {
  const findings: Finding[] = []
  const matched = new Set<ModelProperty>()
  for (const old of before.properties) {
    const at = `${object}.${old.name}`
    const now = matchOf(old, before, after)
    if (now === undefined) {
      findings.push(finding(at, 'column-dropped', loosened, `The column ${old.name} is dropped`))
      continue
    }
    matched.add(now)
    findings.push(...oneProperty(at, old, now, isReplaced(old, now, before, after)))
  }
  for (const now of after.properties) {
    if (matched.has(now)) continue
    const required = now.required || now.primaryKey
    findings.push(
      finding(
        `${object}.${now.name}`,
        required ? 'column-added-required' : 'column-added',
        required ? tightened : harmless,
        `The ${required ? 'required ' : ''}column ${now.name} is added`,
      ),
    )
    // Masks of a new column hide nothing that was seen.
  }
  return findings
}

function fieldIdOf({ fieldIds }: PropertySide, property: ModelProperty): number | undefined {
  return new Map(Object.entries(fieldIds)).get(columnOf(property))
}

/** By field id, else by the document's id, else by name. */
function matchOf(old: ModelProperty, before: PropertySide, after: PropertySide): ModelProperty | undefined {
  const fieldId = fieldIdOf(before, old)
  const byField =
    fieldId === undefined ? undefined : after.properties.find((one) => fieldIdOf(after, one) === fieldId)
  const byId = old.id === undefined ? undefined : after.properties.find(({ id }) => id === old.id)
  return byField ?? byId ?? after.properties.find(({ name }) => name === old.name)
}

/** Whether a column of the same name is another column: dropped, and added again. */
function isReplaced(
  old: ModelProperty,
  now: ModelProperty,
  before: PropertySide,
  after: PropertySide,
): boolean {
  const [was, is] = [fieldIdOf(before, old), fieldIdOf(after, now)]
  return was !== undefined && is !== undefined && was !== is
}

function oneProperty(
  at: string,
  old: ModelProperty,
  now: ModelProperty,
  another: boolean,
): readonly Finding[] {
  const renamed = old.name !== now.name || columnOf(old) !== columnOf(now)
  const integers = now.logicalType === 'integer'
  return [
    ...(another
      ? [finding(at, 'column-replaced', replaced, `The column ${now.name} is another column`)]
      : []),
    ...(renamed
      ? [finding(at, 'column-renamed', loosened, `The column is renamed to ${columnOf(now)}`)]
      : []),
    ...typeFindings(at, old, now),
    ...flag(at, 'required', old.required, now.required),
    ...(old.unique === now.unique
      ? []
      : [
          finding(at, 'unique-changed', replaced, `The column is ${now.unique ? 'now' : 'no longer'} unique`),
        ]),
    ...enumFindings(at, old, now),
    ...(['inimum', 'aximum'] as const).flatMap((side) =>
      accepted(at, `m${side}`, boundChange(old.options, now.options, side, integers), `The m${side} changes`),
    ),
    ...optionFindings(at, old.options, now.options),
    ...relationshipFindings(at, old.relationships, now.relationships),
    ...qualityFindings(at, old.quality, now.quality),
    ...protectionFindings(at, 'mask', old.masks, now.masks),
    ...protectionFindings(at, 'row filter', old.rowFilters, now.rowFilters),
    ...(old.description === now.description
      ? []
      : [finding(at, 'description-changed', harmless, 'The description changes')]),
  ]
}

function flag(at: string, name: string, before: boolean, after: boolean): readonly Finding[] {
  if (before === after) return []
  const message = `The column is ${after ? 'now' : 'no longer'} ${name}`
  return accepted(at, name, after ? 'tightened' : 'loosened', message)
}

function enumFindings(at: string, before: ModelProperty, after: ModelProperty): readonly Finding[] {
  const [old, now] = [before.enum, after.enum]
  if (old === undefined || now === undefined)
    return accepted(
      at,
      'enum',
      old === now ? 'same' : now === undefined ? 'loosened' : 'tightened',
      now === undefined ? 'Every value is allowed' : 'Only listed values are allowed',
    )
  const added = now.filter((value) => !old.includes(value))
  const removed = old.filter((value) => !now.includes(value))
  return [
    ...accepted(
      at,
      'enum',
      added.length > 0 ? 'loosened' : 'same',
      `Allowed values are added: ${added.join(', ')}`,
    ),
    ...accepted(
      at,
      'enum',
      removed.length > 0 ? 'tightened' : 'same',
      `Allowed values are removed: ${removed.join(', ')}`,
    ),
  ]
}

/** Options of which a greater value accepts less, and those of which a smaller one does. */
const floors = ['minLength', 'minItems', 'minProperties']
const ceilings = ['maxLength', 'maxItems', 'maxProperties']
const compared = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems']

function optionFindings(
  at: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly Finding[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => {
    const [old, now] = [before[name], after[name]]
    if (Bun.deepEquals(old, now)) return []
    const message = `The option ${name} changes`
    if (name === 'uniqueItems')
      return accepted(at, name, now === true ? 'tightened' : old === true ? 'loosened' : 'same', message)
    if (compared.includes(name)) return []
    if (floors.includes(name) || ceilings.includes(name))
      return accepted(at, name, limitChange(old, now, floors.includes(name)), message)
    if (name === 'dimensions' || name === 'elementType') return accepted(at, name, 'both', message)
    const direction =
      name === 'pattern' && old === undefined
        ? 'tightened'
        : name === 'pattern' && now === undefined
          ? 'loosened'
          : 'undecided'
    return accepted(at, name, direction, message)
  })
}

/** The findings about foreign keys, at a property or an object. */
export function relationshipFindings(
  at: string,
  before: readonly ModelRelationship[],
  after: readonly ModelRelationship[],
): readonly Finding[] {
  const texts = (all: readonly ModelRelationship[]) =>
    all.map((one) => JSON.stringify([one.from ?? [], one.to]))
  const [old, now] = [texts(before), texts(after)]
  const named = (text: string) => (JSON.parse(text) as [string[], string[]])[1].join(', ')
  return [
    ...old
      .filter((one) => !now.includes(one))
      .map((one) =>
        finding(at, 'relationship-removed', loosened, `The relationship to ${named(one)} is removed`),
      ),
    ...now
      .filter((one) => !old.includes(one))
      .map((one) =>
        finding(at, 'relationship-added', tightened, `The relationship to ${named(one)} is added`),
      ),
  ]
}

/** The findings about quality rules, at a property or an object. A rule without a threshold promises nothing. */
export function qualityFindings(
  at: string,
  before: readonly ModelQuality[],
  after: readonly ModelQuality[],
): readonly Finding[] {
  const promising = (rule: ModelQuality | undefined) =>
    rule?.operator !== undefined || rule?.type === 'custom'
  const keys = new Set([...before, ...after].map(({ key }) => key))
  return [...keys].flatMap((key) => {
    const old = before.find((rule) => rule.key === key)
    const now = after.find((rule) => rule.key === key)
    const message = `The quality rule ${key}`
    if (!promising(old) && !promising(now)) return []
    if (old === undefined || !promising(old))
      return accepted(at, 'quality', 'tightened', `${message} is added`)
    if (now === undefined || !promising(now))
      return accepted(at, 'quality', 'loosened', `${message} is removed`)
    const measured = (rule: ModelQuality) => [rule.type, rule.metric, rule.measures, rule.unit]
    if (!Bun.deepEquals(measured(old), measured(now)))
      return accepted(at, 'quality', 'undecided', `${message} measures something else`)
    return accepted(at, 'quality', thresholdChange(old, now), `The threshold of ${key} changes`)
  })
}
