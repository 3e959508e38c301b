/** Translates the declaration of an operation into an Operation Object of OpenAPI 3.1. */

import type { FaultKind } from '../../base/fault.ts'
import type { GivesOfTables } from '../../core/gives.ts'
import type { Access, Operation, SessionAccess } from '../../core/operation.ts'
import { faultStatus } from '../../http/fault-response.ts'
import { placesOf, refusesUnknown } from '../../http/read-input.ts'
import recordedExamples from './examples.json'

/** A response or a request body. */
export interface Content {
  readonly description?: string
  readonly required?: boolean
  readonly content?: Readonly<Record<string, { readonly schema: object; readonly example?: object }>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: object
  readonly description?: string
}

/** An Operation Object of OpenAPI. */
export interface DescribedOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  /** What its answers tell of tables (docs/reference/visibility.md). */
  readonly 'x-gives': GivesOfTables
  /** Empty: no session is needed. Absent: a session is needed. */
  readonly security?: readonly never[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<number, Content>>
}

interface Example {
  readonly input?: object | undefined
  readonly output?: object | undefined
}

/** Refers to the schema of every refusal. */
const errorSchema = { $ref: '#/components/schemas/Error' } as const

/** The Operation Object of a declaration. */
export function describeOperation(operation: Operation): DescribedOperation {
  const { name, tag, summary, access, gives, input, output, media } = operation
  const status = operation.status ?? (output === undefined ? 204 : 200)
  const parameters = parametersOf(operation)
  const { body } = placesOf(operation)
  const example = exampleOf(operation)
  const success = {
    description: successes[status],
    ...(output !== undefined && { content: json(output, example.output) }),
    ...(media?.response !== undefined && { content: rawContent(media.response, example.output) }),
  }
  const inBody = (members: object) =>
    Object.fromEntries(Object.entries(members).filter(([member]) => body.includes(member)))
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    'x-gives': gives,
    ...('open' in access && access.open !== 'browser' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(media?.request !== undefined && {
      requestBody: { required: true, content: rawContent(media.request, example.input) },
    }),
    ...(body.length > 0 && {
      requestBody: {
        required: true,
        content: json(
          {
            ...input,
            required: (input?.required ?? []).filter((member) => body.includes(member)),
            properties: inBody(input?.properties ?? {}),
          },
          example.input && inBody(example.input),
        ),
      },
    }),
    responses: {
      [status]: success,
      ...(operation.withoutBody !== undefined && { 204: { description: operation.withoutBody } }),
      ...refusals(operation),
    },
  }
}

/** The example that the operation declares, else one that was recorded. */
function exampleOf({ name, examples }: Operation): Example {
  const [declared] = examples ?? []
  const recorded = (recordedExamples as Readonly<Record<string, Example>>)[name]
  return { input: declared?.input ?? recorded?.input, output: declared?.output ?? recorded?.output }
}

/** What the declaration says, and who may call it. */
function descriptionOf({ description, access }: Operation): string {
  const said = description === undefined || /[.!?)]$/.test(description) ? description : `${description}.`
  return said === undefined ? callersOf(access) : `${said} ${callersOf(access)}`
}

const openTo = {
  everyone: 'It needs no session.',
  signature: 'It needs no session; the request is signed.',
  browser: 'It is for a browser, which sends its cookie.',
} as const

function callersOf(access: Access): string {
  if ('open' in access) return openTo[access.open]
  if ('organization' in access)
    return `Sessions of the ${access.organization} organization may call it, for any tenant.`
  return `It needs a session with ${needsOf(access).join(', ')}.`
}

function needsOf({ scope, roles, capability }: SessionAccess): readonly string[] {
  return [
    `the scope \`${scope}\``,
    ...(roles === undefined ? [] : [`the role ${roles.map((role) => `\`${role}\``).join(' or ')}`]),
    ...(capability === undefined ? [] : [`a license for \`${capability}\``]),
  ]
}

const successes = { 200: 'Done', 201: 'Created', 202: 'Accepted', 204: 'Done', 302: 'Redirect' } as const

/** A body that is not JSON, or whose schema is elsewhere. An example is shown as JSON. */
function rawContent(types: readonly string[], example: object | undefined) {
  const schema = {}
  return Object.fromEntries(
    types.map((type) => [type, type === 'application/json' ? json(schema, example)[type] : { schema }]),
  )
}

function json(schema: object, example?: object) {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}

function parametersOf(operation: Operation): readonly Parameter[] {
  const { path, query } = placesOf(operation)
  const { properties = {}, required = [] } = operation.input ?? {}
  const one = (name: string, place: 'path' | 'query'): Parameter => {
    const { description, ...schema } = { ...properties[name] } as { readonly description?: string }
    const joined = 'items' in schema ? 'levels joined by %1F' : undefined
    const said = description ?? joined
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      schema: 'items' in schema ? { type: 'string' } : schema,
      ...(said !== undefined && { description: said }),
    }
  }
  const headers = 'headers' in operation ? Object.entries(operation.headers ?? {}) : []
  return [
    ...path.map((name) => one(name, 'path')),
    ...query.map((name) => one(name, 'query')),
    ...headers.map(([name, { description, required: needed = false }]) => {
      return { name, in: 'header' as const, required: needed, schema: { type: 'string' }, description }
    }),
  ]
}

/** The refusals that follow from access and input and those that the operation declares, by status. */
function refusals(operation: Operation): Readonly<Record<number, Content>> {
  const { access, faults, input, badRequest } = operation
  const takesBody = 'run' in operation && placesOf(operation).body.length > 0
  const reasons: Partial<Record<FaultKind, string>> = {
    ...((input !== undefined || refusesUnknown(operation)) && {
      bad_request: 'A parameter or the body is malformed; see `error.message`.',
    }),
    ...(takesBody && { payload_too_large: 'The body is too large.' }),
    ...lacksOf(access),
    unavailable: 'The database is not available. Retry.',
    ...faults,
  }
  const byStatus = Map.groupBy(Object.entries(reasons), ([kind]) => faultStatus(kind as FaultKind))
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => {
      const description = all.map(([, reason]) => reason).join(' ')
      const schema = status === 400 ? (badRequest ?? errorSchema) : errorSchema
      return [status, { description, content: json(schema) }]
    }),
  )
}

function lacksOf(access: Access): Partial<Record<FaultKind, string>> {
  if ('open' in access) return {}
  if ('organization' in access)
    return { forbidden: `Only a session of the ${access.organization} organization may call this.` }
  const lacks = needsOf(access)
  return { unauthenticated: 'There is no session.', forbidden: `The caller lacks ${lacks.join(', ')}.` }
}
