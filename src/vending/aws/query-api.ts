/** Calls STS and IAM: one signed form, one reply in XML. No error quotes what was sent. */

import { Fault } from '../../base/fault.ts'
import { type AddressRules, PinnedHost } from '../../catalog/address.ts'
import { signRequest } from '../../catalog/sign-request.ts'
import { sendUpstream, UpstreamHttpError } from '../../catalog/upstream-http.ts'
import type { AwsKeys } from '../settings.ts'

interface QueryCall {
  readonly endpoint: URL
  readonly service: 'sts' | 'iam'
  readonly region: string
  readonly keys: AwsKeys
  readonly form: Readonly<Record<string, string>>
  readonly rules: AddressRules
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: number
}

/** A refusal by the service, with its code. */
export class QueryRefusal extends Error {
  override readonly name = 'QueryRefusal'

  constructor(
    readonly code: string,
    readonly status: number,
  ) {
    super(`answered ${status} (${code})`)
  }
}

const requestMs = 10_000
const responseBytesMax = 256 * 1024
/**
 * Sends one call.
 * @returns the reply's text
 * @throws QueryRefusal for any answer but a success; Fault `upstream_failed` where there was none
 */
export async function callQueryApi(call: QueryCall): Promise<string> {
  const { endpoint, service, region, keys, form, rules, nowMs } = call
  // As AWS's own clients write a form: some servers sign one that they have written again.
  const text = new URLSearchParams(form).toString().replaceAll('*', '%2A')
  const body = new TextEncoder().encode(text)
  const path = '/'
  const headers = await signRequest(
    { ...keys, sessionToken: undefined, region, service },
    {
      method: 'POST',
      url: `${endpoint.origin}${endpoint.pathname.replace(/\/$/, '')}${path}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body,
    },
    nowMs,
  )
  try {
    const response = await sendUpstream(new PinnedHost(endpoint, rules), {
      method: 'POST',
      path,
      headers,
      body,
      signal: AbortSignal.timeout(requestMs),
      responseBytesMax,
    })
    const reply = new TextDecoder().decode(response.body)
    if (response.status === 200) return reply
    throw new QueryRefusal(elementOf(reply, 'Code') ?? 'Unknown', response.status)
  } catch (thrown) {
    if (!(thrown instanceof UpstreamHttpError)) throw thrown
    throw new Fault(
      'upstream_failed',
      `The service that issues storage credentials ${thrown.publicMessage}.`,
      {
        cause: thrown,
      },
    )
  }
}

/** The text of the first element of a name; undefined where there is none or it holds an entity. */
export function elementOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<&]{1,8192})</${name}>`).exec(xml)?.[1]?.trim()
}
