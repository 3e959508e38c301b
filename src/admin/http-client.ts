/** Runs operations on a running service, over HTTP, with a session. It opens no store. */

import { Fault, type FaultKind } from '../base/fault.ts'
import { placesOf } from '../http/read-input.ts'
import type { Client, Input } from './client.ts'
import { operationNamed } from './operations.ts'
import type { ServiceAddress } from './service-address.ts'

/** Milliseconds for one request. */
const requestMs = 30_000

/** What a status means for the exit status; others are failures. */
const kinds: Readonly<Record<number, FaultKind>> = {
  400: 'bad_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/** Sends requests to a service with a session. */
export function openHttpClient({ url, session }: ServiceAddress): Client {
  return {
    async run(name, input) {
      const response = await send(name, input)
      const text = await response.text()
      if (!response.ok) throw refusal(response.status, text)
      return text === '' ? undefined : JSON.parse(text)
    },
    close: async () => {},
  }

  async function send(name: string, input: Input): Promise<Response> {
    const operation = operationNamed(name)
    const places = placesOf(operation)
    const path = operation.path.replaceAll(/\{(\w+)\+?\}/g, (_, member) => inUrl(input[member]))
    const target = new URL(path, url)
    for (const member of places.query)
      if (input[member] !== undefined) target.searchParams.set(member, inQuery(input[member]))
    const members = places.body.filter((member) => input[member] !== undefined)
    const hasBody = places.body.length > 0
    try {
      return await fetch(target, {
        method: operation.method,
        headers: { 'x-svc-session': session, ...(hasBody && { 'content-type': 'application/json' }) },
        ...(hasBody && { body: JSON.stringify(Object.fromEntries(members.map((one) => [one, input[one]]))) }),
        // A redirect would take the session's secret elsewhere.
        redirect: 'manual',
        signal: AbortSignal.timeout(requestMs),
      })
    } catch (cause) {
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
  return new Fault(kind, messageIn(text) ?? `The service answered ${status}.`)
}

/** The message of an ErrorModel; undefined for the body of something else, such as a proxy. */
function messageIn(text: string): string | undefined {
  try {
    const { message } = (JSON.parse(text) as { error: { message: unknown } }).error
    return typeof message === 'string' && message !== '' ? message : undefined
  } catch {
    return undefined
  }
}
