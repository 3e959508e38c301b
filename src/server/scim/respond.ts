/**
 * Answers of SCIM: resources, lists and errors in its media type, entity tags, and what a request asks for. The log
 * has no message of a refusal, because it may hold what a client sent about a person.
 */

import type { Logger } from 'pino'
import { type Fault, toFault } from '../../base/fault.ts'
import { faultHeaders, faultStatus } from '../../http/fault-response.ts'
import { readBodyOf } from '../../http/read-body.ts'
import { limits } from '../../limits.ts'
import { type Filter, parseFilter } from '../../wire/scim/filter.ts'
import { isScimObject, type ScimObject } from '../../wire/scim/match.ts'
import { type Projection, readProjection } from '../../wire/scim/project.ts'
import type { ResourceSchema } from '../../wire/scim/schemas.ts'
import { badScim, scimFault } from '../../wire/scim/scim-fault.ts'

const mediaType = 'application/scim+json'
const messages = 'urn:ietf:params:scim:api:messages:2.0'

/** Resources of one page, at most. */
export const pageMax = 200

/** An answer in SCIM's media type. */
export function scimResponse(
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': mediaType, ...headers } })
}

/** The answer of `work`, or the SCIM error of what it threw. @param onStatus gets the status of either */
export async function respondScim(
  log: Logger,
  onStatus: (status: number) => void,
  work: () => Promise<Response>,
): Promise<Response> {
  const response = await work().catch((thrown: unknown) => {
    const fault = toFault(thrown)
    const { status, body } = scimError(fault)
    const about = {
      faultId: fault.id,
      kind: fault.kind,
      status,
      err: status >= 500 ? fault.cause : undefined,
    }
    log[status === 500 ? 'error' : 'info'](about, 'a SCIM request was refused')
    return scimResponse(body, status, faultHeaders(fault))
  })
  onStatus(response.status)
  return response
}

function scimError(fault: Fault) {
  const named = fault.members?.status
  const status = typeof named === 'number' ? named : faultStatus(fault.kind)
  const scimType = fault.members?.scimType
  return {
    status,
    body: {
      schemas: [`${messages}:Error`],
      status: String(status),
      ...(typeof scimType === 'string' && { scimType }),
      detail: fault.publicMessage,
    },
  }
}

/**
 * The JSON of a request's body.
 * @param again checks the caller once more where the body came late
 * @throws Fault for another media type (415), for what is no JSON (invalidSyntax), and as `readBodyOf`
 */
export async function readScimBody(request: Request, again: () => Promise<unknown>): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== mediaType && type !== 'application/json')
    throw scimFault(415, `Send the body as ${mediaType}.`)
  const { bytes } = await readBodyOf(request, limits.scimBodyBytesMax, again)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw badScim('invalidSyntax', 'The body is not JSON.')
  }
}

/** What a list asks for. */
export interface ListRequest {
  readonly filter: Filter | undefined
  readonly offset: number
  readonly count: number
  readonly projection: Projection
}

// Entra ID adds the last one to its address.
const listNames = ['filter', 'startIndex', 'count', 'attributes', 'excludedAttributes', 'aadOptscim062020']

/** Reads the query of a list. @throws Fault `bad_request` */
export function readListQuery(schema: ResourceSchema, { url }: Request): ListRequest {
  const { searchParams } = new URL(url)
  const names = new Map([...searchParams.keys()].map((name) => [name.toLowerCase(), name]))
  assertNames(names.values())
  const get = (name: string) => searchParams.get(names.get(name.toLowerCase()) ?? name)
  return listRequest(schema, {
    filter: get('filter') ?? undefined,
    startIndex: wholeNumber(get('startIndex'), 'startIndex'),
    count: wholeNumber(get('count'), 'count'),
    attributes: split(get('attributes')),
    excludedAttributes: split(get('excludedAttributes')),
  })
}

/** Reads the body of a `.search` (RFC 7644, 3.4.3). @throws Fault `bad_request` */
export function readSearch(schema: ResourceSchema, sent: unknown): ListRequest {
  if (!isScimObject(sent)) throw badScim('invalidSyntax', 'The body must be a JSON object.')
  const { schemas, filter, startIndex, count, attributes, excludedAttributes, ...others } = sent
  if (!Array.isArray(schemas) || !schemas.includes(`${messages}:SearchRequest`))
    throw badScim('invalidSyntax', `\`schemas\` must hold ${messages}:SearchRequest.`)
  assertNames(Object.keys(others))
  if (filter !== undefined && typeof filter !== 'string')
    throw badScim('invalidFilter', '`filter` must be a text.')
  return listRequest(schema, {
    filter,
    startIndex: wholeNumber(startIndex, 'startIndex'),
    count: wholeNumber(count, 'count'),
    attributes: texts(attributes, 'attributes'),
    excludedAttributes: texts(excludedAttributes, 'excludedAttributes'),
  })
}

/** Reads which attributes the answer to one resource has. @throws Fault `bad_request` */
export function readShown(schema: ResourceSchema, { url }: Request): Projection {
  const { searchParams } = new URL(url)
  return readProjection(
    schema,
    split(searchParams.get('attributes')),
    split(searchParams.get('excludedAttributes')),
  )
}

interface Asked {
  readonly filter: string | undefined
  readonly startIndex: number | undefined
  readonly count: number | undefined
  readonly attributes: readonly string[]
  readonly excludedAttributes: readonly string[]
}

function listRequest(schema: ResourceSchema, asked: Asked): ListRequest {
  const { filter, startIndex = 1, count = 100, attributes, excludedAttributes } = asked
  return {
    filter: filter === undefined ? undefined : parseFilter(schema, filter),
    offset: Math.max(startIndex, 1) - 1,
    count: Math.min(Math.max(count, 0), pageMax),
    projection: readProjection(schema, attributes, excludedAttributes),
  }
}

function assertNames(names: Iterable<string>): void {
  for (const name of names)
    if (!listNames.some((one) => one.toLowerCase() === name.toLowerCase()))
      throw badScim(
        'invalidSyntax',
        /^sort/i.test(name)
          ? 'Sorting is not supported: resources come in the order of their ids.'
          : `A list takes ${listNames.slice(0, 5).join(', ')}.`,
      )
}

function wholeNumber(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const number = Number(value)
  if (value === '' || !Number.isSafeInteger(number) || Math.abs(number) > 2 ** 31 - 1)
    throw badScim('invalidValue', `\`${name}\` must be a whole number.`)
  return number
}

function split(names: string | null): readonly string[] {
  return (names ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function texts(value: unknown, name: string): readonly string[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    throw badScim('invalidSyntax', `\`${name}\` must be a list of names.`)
  return value
}

/** The answer of a list (RFC 7644, 3.4.2). */
export function listResponse(
  total: number,
  { offset }: Pick<ListRequest, 'offset'>,
  items: readonly ScimObject[],
): Response {
  return scimResponse({
    schemas: [`${messages}:ListResponse`],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: items.length,
    Resources: items,
  })
}

/** The entity tag of a version. */
export function entityTag(version: string): string {
  return `W/"${version}"`
}

/** Whether a version is one of those that a header names (`If-Match`, `If-None-Match`). */
export function isNamed(header: string, version: string): boolean {
  const names = header.split(',').map((name) => name.trim())
  return names.includes('*') || names.includes(entityTag(version)) || names.includes(`"${version}"`)
}

/** Whether the version that is stored is the one that a request expects. */
export function expectedBy({ headers }: Request): (version: string) => boolean {
  const expected = headers.get('if-match')
  return (version) => expected === null || isNamed(expected, version)
}
