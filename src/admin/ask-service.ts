/** Sends one call of an operation that a service describes, and prints its answer; page after page where that is asked. */

import { Type } from '@sinclair/typebox'
import { UsageError } from './exit-status.ts'
import { openHttpClient } from './http-client.ts'
import type { FileBody } from './member-values.ts'
import { pagesOf } from './pages.ts'
import { membersOf, type ServedOperation } from './served-operations.ts'
import type { ServiceAddress } from './service-address.ts'

interface Question {
  readonly input: ReadonlyMap<string, unknown>
  readonly body: FileBody | undefined
  /** Whether the items of all pages are printed as one list. */
  readonly every: boolean
  readonly signal: AbortSignal | undefined
}

/** Calls it. @throws Fault as the service answers; UsageError where its answer has no pages */
export async function askService(
  service: ServiceAddress,
  operation: ServedOperation,
  { input, body, every, signal }: Question,
  print: (text: string) => void,
): Promise<void> {
  if (every) {
    if (body !== undefined) throw new UsageError('--every and --file do not go together')
    const client = openHttpClient(service, { named: () => declared(operation), ...(signal && { signal }) })
    const items: unknown[] = []
    for await (const page of pagesOf(client, operation.name, Object.fromEntries(input))) items.push(...page)
    print(JSON.stringify(items, undefined, 2))
    return
  }
  const { text, value } = await openServed(service, operation, signal)(input, body)
  if (text !== '') print(value === undefined ? text : JSON.stringify(value, undefined, 2))
}

/** What a service answered: its text, and the value of that where it is JSON. */
interface Reply {
  readonly text: string
  readonly value: unknown
}

/** Sends calls of one operation. Each throws a Fault as the service answers. */
export function openServed(
  service: ServiceAddress,
  operation: ServedOperation,
  signal: AbortSignal | undefined,
): (input: ReadonlyMap<string, unknown>, body: FileBody | undefined) => Promise<Reply> {
  const client = openHttpClient(service, { named: () => declared(operation), ...(signal && { signal }) })
  const inHeaders = membersOf(operation).filter(({ place }) => place === 'header')
  return async (input, body) => {
    const given = inHeaders.filter(({ name }) => input.has(name))
    const headers = Object.fromEntries(given.map(({ name }) => [name, String(input.get(name))]))
    const { bytes, type } = await client.exchange(operation.name, Object.fromEntries(input), {
      ...(body && { body: body.bytes, type: body.type }),
      headers,
    })
    const text = Buffer.from(bytes).toString()
    const isJson = text !== '' && /^application\/(?:[\w.+-]*\+)?json\b/.test(type)
    return { text, value: isJson ? JSON.parse(text) : undefined }
  }
}

/** As a client needs it: which members go where. */
function declared(operation: ServedOperation) {
  const { method, path } = operation
  const members = membersOf(operation).filter(({ place }) => place !== 'header')
  const properties = Object.fromEntries(members.map((one) => [one.name, Type.Unknown()]))
  return { method, path, input: Type.Object(properties) } as const
}
