/**
 * Checks a document against the JSON Schema of its version of the standard, and what it says to Covenant against ours.
 * Compiling a schema takes seconds, so this runs in a worker, and each is compiled when it is first needed.
 */

import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js'
import type { ApiVersion, SchemaVersion } from './api-versions.ts'
import { isApiVersion, isWritten, schemaVersionOf } from './api-versions.ts'
import { pointerOf, pointerSteps } from './pointer.ts'
import type { DocumentProblem } from './problem.ts'
import { type ContractDocument, placeOf, plainValue } from './read-document.ts'
import { causesOf } from './schema-errors.ts'
import covenantSchema from './schemas/covenant.schema.json' with { type: 'json' }
import odcs302 from './schemas/odcs-3.0.2.schema.json' with { type: 'json' }
import odcs310 from './schemas/odcs-3.1.0.schema.json' with { type: 'json' }
import odcs320 from './schemas/odcs-3.2.0.schema.json' with { type: 'json' }

const schemas: Readonly<Record<SchemaVersion, object>> = {
  '3.2.0': odcs320,
  '3.1.0': odcs310,
  '3.0.2': odcs302,
}

/** Problems of one document that an answer lists. */
const problemsMax = 20

// Verbose, because a sentence about alternatives names what they ask for.
const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false, verbose: true })
/** Every field that a version of the standard names anywhere. */
const fields: ReadonlySet<string> = new Set(Object.values(schemas).flatMap(fieldsOf))
const compiled = new Map<SchemaVersion, ValidateFunction>()
/** What `customProperties` named `covenant` may hold, by level. */
export type CovenantLevel = 'contract' | 'schema' | 'property'
const compiledLevels = new Map<CovenantLevel, ValidateFunction>()

function fieldsOf(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf)
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) => [
    ...(name === 'properties' ? Object.keys(value) : []),
    ...fieldsOf(value),
  ])
}

/** The version that a document says it has. */
export function apiVersionOf({ value }: ContractDocument): ApiVersion | undefined {
  const version = value.get('apiVersion')
  return isApiVersion(version) ? version : undefined
}

/** Everything that the standard's schema refuses, with line and column; at most 20. */
export function standardProblems(document: ContractDocument): readonly DocumentProblem[] {
  const version = apiVersionOf(document)
  if (version === undefined)
    return [
      located(
        document,
        ['apiVersion'],
        '`apiVersion` must be a version of the standard from v2.2.0 to v3.2.0',
      ),
    ]
  if (!isWritten(version)) return olderProblems(document)
  return problemsOf(document, [], validator(schemaVersionOf(version)), plainValue(document.value))
}

/** Everything that our schema refuses of the value at these steps. */
export function covenantProblems(
  document: ContractDocument,
  steps: readonly string[],
  level: CovenantLevel,
  value: unknown,
): readonly DocumentProblem[] {
  return problemsOf(document, steps, levelValidator(level), value)
}

/** A problem of the value at these steps. */
export function located(
  document: ContractDocument,
  steps: readonly string[],
  message: string,
): DocumentProblem {
  return { ...placeOf(document, steps), path: pointerOf(steps), message }
}

function validator(version: SchemaVersion): ValidateFunction {
  const found = compiled.get(version) ?? ajv.compile(schemas[version])
  compiled.set(version, found)
  return found
}

function levelValidator(level: CovenantLevel): ValidateFunction {
  if (ajv.getSchema(covenantSchema.$id) === undefined) ajv.addSchema(covenantSchema)
  const found = compiledLevels.get(level) ?? ajv.compile({ $ref: `${covenantSchema.$id}#/$defs/${level}` })
  compiledLevels.set(level, found)
  return found
}

function problemsOf(
  document: ContractDocument,
  steps: readonly string[],
  validate: ValidateFunction,
  value: unknown,
): readonly DocumentProblem[] {
  if (validate(value)) return []
  const problems = causesOf(validate.errors ?? [], fields).map(({ instancePath, message }) =>
    located(document, [...steps, ...(pointerSteps(instancePath) ?? [])], message),
  )
  return [...new Map(problems.map((one) => [`${one.path} ${one.message}`, one])).values()].slice(
    0,
    problemsMax,
  )
}

/** What documents of 2.2, for which there is no schema here, must have. */
function olderProblems(document: ContractDocument): readonly DocumentProblem[] {
  return ['kind', 'uuid', 'version', 'status'].flatMap((name) =>
    typeof document.value.get(name) === 'string'
      ? []
      : [located(document, [name], `The field ${name} is missing, or is no text`)],
  )
}
