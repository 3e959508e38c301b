/**
 * Tells the mistakes in a document from what only follows from them. A JSON Schema validator reports every rule that
 * fails: of alternatives, all that were not meant, and after one wrong field all others of its object.
 */

import type { ErrorObject } from 'ajv/dist/2019.js'

/** One mistake. */
interface SchemaError {
  /** JSON Pointer (RFC 6901) to the value. */
  readonly instancePath: string
  /** A sentence without a full stop. */
  readonly message: string
}

/** Keywords whose error only says that others failed. */
const summaries: ReadonlySet<string> = new Set(['if', 'anyOf', 'oneOf', 'allOf', 'not'])

/**
 * The mistakes among what a validator reports.
 * @param all with `allErrors` and `verbose`
 * @param fields every field that the schema names anywhere
 */
export function causesOf(all: readonly ErrorObject[], fields: ReadonlySet<string>): readonly SchemaError[] {
  const choices = all.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf')
  const unmeant = new Set(choices.flatMap((choice) => unmeantOf(choice, all)))
  const errors = all.filter(
    (error) => !unmeant.has(error) && (!summaries.has(error.keyword) || isTwofold(error)),
  )
  const causes = errors.filter((error) => !followsFrom(error, errors, fields))
  return (causes.length > 0 ? causes : all).map((error) => ({
    instancePath: error.instancePath,
    message: sentence(error, causes),
  }))
}

/** Whether several alternatives hold of which one may. */
const isTwofold = ({ params }: ErrorObject): boolean => Array.isArray(params.passingSchemas)

/** The errors of alternatives that were hardly meant: those with more errors, or with errors further from the leaves. */
function unmeantOf(choice: ErrorObject, all: readonly ErrorObject[]): readonly ErrorObject[] {
  const alternatives = new Map<string, ErrorObject[]>()
  for (const error of all) {
    if (!error.schemaPath.startsWith(`${choice.schemaPath}/`)) continue
    if (!isWithin(error, choice.instancePath)) continue
    const index = error.schemaPath.slice(choice.schemaPath.length + 1).split('/', 1)[0] ?? ''
    alternatives.set(index, [...(alternatives.get(index) ?? []), error])
  }
  const groups = [...alternatives.values()]
  if (isTwofold(choice)) return groups.flat()
  const weightOf = (errors: readonly ErrorObject[]) =>
    errors.length * 1_000 - Math.max(...errors.map(({ instancePath }) => instancePath.split('/').length))
  const least = Math.min(...groups.map(weightOf))
  return groups.filter((group) => weightOf(group) > least).flat()
}

const isBelow = ({ instancePath }: ErrorObject, path: string): boolean => instancePath.startsWith(`${path}/`)
const isWithin = (error: ErrorObject, path: string): boolean =>
  error.instancePath === path || isBelow(error, path)

/**
 * Whether an error follows from another one. The fields of an object in which something is wrong are all reported as
 * unevaluated, because the part of the schema that names them has failed. A value with another fault has the wrong type
 * only for an alternative that was not meant.
 */
function followsFrom(
  error: ErrorObject,
  errors: readonly ErrorObject[],
  fields: ReadonlySet<string>,
): boolean {
  const { keyword, instancePath, params } = error
  if (keyword === 'type')
    return errors.some((other) =>
      other.keyword === keyword ? isBelow(other, instancePath) : isWithin(other, instancePath),
    )
  if (keyword !== 'unevaluatedProperties' || !fields.has(String(params.unevaluatedProperty))) return false
  return errors.some((other) =>
    other.keyword === keyword && other.instancePath === instancePath
      ? !fields.has(String(other.params.unevaluatedProperty))
      : isWithin(other, instancePath),
  )
}

/** Where in the schema a choice is made of which an error is one of the alternatives. */
const choiceOf = ({ schemaPath }: ErrorObject): string | undefined =>
  /^(.*\/(?:one|any)Of)\/\d+\/required$/.exec(schemaPath)?.[1]

/** @param causes those of one place that demand a type, or offer fields, are one sentence */
function sentence(error: ErrorObject, causes: readonly ErrorObject[]): string {
  const { keyword, instancePath, params, message = 'is not valid' } = error
  const names = params as Readonly<Record<string, unknown>>
  const alike = causes.filter((other) => other.keyword === keyword && other.instancePath === instancePath)
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `The standard has no field ${String(names.additionalProperty ?? names.unevaluatedProperty)} here; use customProperties`
    case 'required': {
      const offered = alike
        .filter((other) => choiceOf(other) !== undefined && choiceOf(other) === choiceOf(error))
        .map((other) => String(other.params.missingProperty))
      return offered.length > 1
        ? `One of the fields ${[...new Set(offered)].join(', ')} is needed`
        : `The field ${String(names.missingProperty)} is missing`
    }
    case 'type': {
      const types = alike.flatMap((other) => other.params.type as string | readonly string[])
      return `The value must be ${[...new Set(types)].join(' or ')}`
    }
    case 'enum':
      return `The value must be one of ${(names.allowedValues as readonly unknown[]).join(', ')}`
    case 'oneOf': {
      const alternatives = error.schema as readonly { readonly required?: readonly string[] }[]
      const asked = (names.passingSchemas as readonly number[]).flatMap(
        (index) => alternatives[index]?.required ?? [],
      )
      return asked.length > 1
        ? `Of the fields ${asked.join(' and ')} only one may be there`
        : `The value ${message}`
    }
    default:
      return `The value ${message}`
  }
}
