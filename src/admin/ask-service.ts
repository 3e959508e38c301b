/** Sends one call of an operation that a service describes, and prints its answer; page after page where that is asked. */

import { Type } from '@sinclair/typebox'
import { pagesOf } from './command.ts'
import { UsageError } from './exit-status.ts'
import { openHttpClient } from './http-client.ts'
import { membersOf, type ServedOperation } from './served-operations.ts'
import type { ServiceAddress } from './service-address.ts'

interface Question {
  readonly input: ReadonlyMap<string, unknown>
  readonly body: { readonly bytes: Uint8Array; readonly type: string } | undefined
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
  const client = openHttpClient(service, { named: () => declared(operation), ...(signal && { signal }) })
  const inHeaders = membersOf(operation).filter(({ name, place }) => place === 'header' && input.has(name))
  const headers = Object.fromEntries(inHeaders.map(({ name }) => [name, String(input.get(name))]))
  const given = Object.fromEntries(input)
  if (every) {
    if (body !== undefined) throw new UsageError('--every and --file do not go together')
    const items: unknown[] = []
    for await (const page of pagesOf(client, operation.name, given)) items.push(...page)
    print(JSON.stringify(items, undefined, 2))
    return
  }
  const { bytes, type } = await client.exchange(operation.name, given, {
    ...(body && { body: body.bytes, type: body.type }),
    headers,
  })
  const text = Buffer.from(bytes).toString()
  const isJson = /^application\/(?:[\w.+-]*\+)?json\b/.test(type)
  if (text !== '') print(isJson ? JSON.stringify(JSON.parse(text), undefined, 2) : text)
}

/** As a client needs it: which members go where. */
function declared(operation: ServedOperation) {
  const { method, path } = operation
  const members = membersOf(operation).filter(({ place }) => place !== 'header')
  const properties = Object.fromEntries(members.map((one) => [one.name, Type.Unknown()]))
  return { method, path, input: Type.Object(properties) } as const
}
