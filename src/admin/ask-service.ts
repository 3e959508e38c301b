/** Sends one call of an operation that a service describes, and prints its answer; page after page where that is asked. */

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

/** Pages of one call, so that a service which repeats a page does not keep it for ever. */
const pagesMax = 100_000

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
  const ask = async (more: object = {}) => {
    const raw = { ...(body && { body: body.bytes, type: body.type }), headers }
    const { bytes, type } = await client.exchange(
      operation.name,
      { ...Object.fromEntries(input), ...more },
      raw,
    )
    const text = Buffer.from(bytes).toString()
    return {
      text,
      value: /^application\/(?:[\w.+-]*\+)?json\b/.test(type) && text !== '' ? JSON.parse(text) : undefined,
    }
  }
  if (!every) {
    const { text, value } = await ask()
    if (value !== undefined) print(JSON.stringify(value, undefined, 2))
    else if (text !== '') print(text)
    return
  }
  const items: unknown[] = []
  let token: unknown
  for (let page = 0; page < pagesMax; page++) {
    const { value } = await ask(token === undefined ? {} : { page_token: token })
    if (!Array.isArray(value?.items))
      throw new UsageError(`${operation.name} answers with no pages: leave out --every`)
    items.push(...value.items)
    if (value.next_page_token === undefined || value.next_page_token === token) break
    token = value.next_page_token
  }
  print(JSON.stringify(items, undefined, 2))
}

/** As a client needs it: which members go where. */
function declared(operation: ServedOperation) {
  const { name, method, path } = operation
  const members = membersOf(operation).filter(({ place }) => place !== 'header')
  const properties = Object.fromEntries(members.map((one) => [one.name, {}]))
  return { name, method, path, input: { properties } } as never
}
