/** Runs operations on a running service, over HTTP, with a session. It opens no store. */

import { Fault, type FaultKind } from '../base/fault.ts'
import type { Operation } from '../core/operation.ts'
import { placesOf } from '../http/read-input.ts'
import type { Client, Input } from './client.ts'
import { operationNamed } from './operations.ts'
import type { ServiceAddress } from './service-address.ts'

/** Milliseconds for one request. */
const requestMsDefault = 30_000

/** What a status means for the exit status; others are failures. */
const kinds: Readonly<Record<number, FaultKind>> = {
  400: 'bad_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'payload_too_large',
  422: 'unprocessable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/** A body that no schema describes. */
interface RawBody {
  readonly body?: Uint8Array
  readonly type?: string
  /** Further headers of the request. */
  readonly headers?: Readonly<Record<string, string>>
}

interface HttpClient extends Client {
  /** Runs an operation whose body or answer is a document. @throws as `run` */
  exchange(
    name: string,
    input: Input,
    raw: RawBody,
  ): Promise<{ readonly bytes: Uint8Array; readonly type: string }>
}

interface HttpClientOptions {
  /** The operations that it can run; default: those of administration. */
  readonly named?: (name: string) => Pick<Operation, 'method' | 'path' | 'input'>
  /** Ends requests under way, which throw its reason. */
  readonly signal?: AbortSignal
  readonly requestMs?: number
}

/** Sends requests to a service with a session. */
export function openHttpClient(
  { url, session, token }: ServiceAddress,
  { named = operationNamed, signal, requestMs = requestMsDefault }: HttpClientOptions = {},
): HttpClient {
  return {
    async run(name, input, body) {
      const raw = body === undefined ? undefined : { body: Buffer.from(body), type: 'application/json' }
      const text = await (await send(name, input, raw)).text()
      return text === '' ? undefined : JSON.parse(text)
    },
    async exchange(name, input, raw) {
      const response = await send(name, input, raw)
      return { bytes: await response.bytes(), type: response.headers.get('content-type') ?? '' }
    },
    close: async () => {},
  }

  async function send(name: string, input: Input, raw?: RawBody): Promise<Response> {
    const response = await request(name, input, raw)
    if (!response.ok) throw refusal(response.status, await response.text())
    return response
  }

  async function request(name: string, input: Input, raw: RawBody = {}): Promise<Response> {
    const operation = named(name)
    const places = placesOf(operation)
    const path = operation.path.replaceAll(/\{(\w+)\+?\}/g, (_, member) => inUrl(input[member]))
    const target = new URL(path, url)
    for (const member of places.query)
      if (input[member] !== undefined) target.searchParams.set(member, inQuery(input[member]))
    const members = places.body.filter((member) => input[member] !== undefined)
    const hasBody = raw.body === undefined && places.body.length > 0
    const type = hasBody ? 'application/json' : raw.type
    try {
      return await fetch(target, {
        method: operation.method,
        headers: {
          ...raw.headers,
          'x-svc-session': session,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(type && { 'content-type': type }),
        },
        ...(raw.body && { body: raw.body as Uint8Array<ArrayBuffer> }),
        ...(hasBody && { body: JSON.stringify(Object.fromEntries(members.map((one) => [one, input[one]]))) }),
        // A redirect would take the session's secret elsewhere.
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(requestMs), ...(signal ? [signal] : [])]),
      })
    } catch (cause) {
      signal?.throwIfAborted()
      throw new Fault('unavailable', `The service at ${target.origin} cannot be reached.`, { cause })
    }
  }
}

/** Text of a path or query, in which the levels of a namespace are joined by U+001F. */
function inQuery(value: unknown): string {
  if (Array.isArray(value)) return value.join('\u001f')
  return value instanceof Date ? value.toISOString() : String(value)
}

function inUrl(value: unknown): string {
  return encodeURIComponent(inQuery(value))
}

function refusal(status: number, text: string): Fault {
  const kind = kinds[status] ?? 'internal'
  const { message, ...members } = errorIn(text)
  const said = typeof message === 'string' && message !== '' ? message : `The service answered ${status}.`
  return new Fault(kind, said, { members })
}

/** The members of an ErrorModel; none for the body of something else, such as a proxy. */
function errorIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const { error } = JSON.parse(text) as { readonly error: Readonly<Record<string, unknown>> | undefined }
    return { ...error }
  } catch {
    return {}
  }
}
