/**
 * Asks the service for a plan and opens it. Whatever goes wrong on the way is `no_plan`: a writer without a plan writes
 * nothing. It keeps no plan: a stream asks again at half of a plan's life.
 */

import { makeWriterKey } from './derive-keys.ts'
import { type Jwks, type KeySource, type OpenPlan, openPlan, type PlanExpectation } from './open-plan.ts'
import { TransformRefused } from './refusal.ts'

export interface PlanRequest extends Omit<PlanExpectation, 'issuer'> {
  /** Address of the service, such as `https://covenant.example`; undefined refuses. */
  readonly url: string | undefined
  /** The plan's issuer, where it is not the origin of `url`. */
  readonly issuer?: string
  /** The catalog's nickname; needed where the tenant has several. */
  readonly catalog?: string
  /** The credential: `X-Svc-Session` or `Authorization`. */
  readonly headers: Readonly<Record<string, string>>
  /** Of a writer that holds its keys itself. Default: the service sends them wrapped. */
  readonly keys?: KeySource
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  readonly nowSeconds?: () => number
  readonly timeoutMs?: number
}

/** Longest wait for an answer, in milliseconds. */
const timeoutMsDefault = 10_000
/** Longest answer, in bytes. */
const answerBytesMax = 4 * 1024 * 1024

/**
 * Fetches a plan for one writer.
 *
 * @throws TransformRefused
 */
export async function fetchPlan(request: PlanRequest): Promise<OpenPlan> {
  const { url, table, schemaId, catalog } = request
  if (url === undefined || url === '')
    throw new TransformRefused('no_plan', 'there is no plan: the address of the service is not set')
  const { base, place } = addressOf(url, table)
  const source = request.keys ?? { writer: makeWriterKey() }
  const query = new URLSearchParams()
  if (catalog !== undefined) query.set('catalog', catalog)
  if (schemaId !== undefined) query.set('schema_id', String(schemaId))
  if ('writer' in source) query.set('public_key', source.writer.publicKey)
  const refused = (why: string) => new TransformRefused('no_plan', `there is no plan: ${why}`)
  const answer = await askJson(request, `${place}/transform-plan?${query}`, refused)
  const jwks = await askJson(request, `${base}/.well-known/jwks.json`, refused)
  const { plan } = answer as { readonly plan?: unknown }
  if (typeof plan !== 'string' || !Array.isArray((jwks as Partial<Jwks>).keys))
    throw new TransformRefused('no_plan', 'there is no plan: the answer of the service is not one')
  const now = request.nowSeconds ?? (() => Math.floor(Date.now() / 1000))
  const expected = { ...request, issuer: request.issuer ?? originOf(base) }
  return openPlan(plan, jwks as Jwks, expected, source, now())
}

/** The service's address without slashes at its end, and that of a table there. */
export function addressOf(
  url: string,
  table: readonly string[],
): { readonly base: string; readonly place: string } {
  const base = url.replace(/\/+$/, '')
  const [namespace, name] = [table.slice(0, -1).join('\u001f'), table.at(-1) ?? '']
  return { base, place: `${base}/api/v1/tables/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}` }
}

function originOf(url: string): string {
  try {
    return new URL(url).origin
  } catch {
    throw new TransformRefused('no_plan', 'there is no plan: the address of the service is no URL')
  }
}

/**
 * Asks the service for an object.
 *
 * @param body of a POST; absent: a GET
 * @throws TransformRefused of `refused`
 */
export async function askJson(
  { fetch: ownFetch = fetch, headers, timeoutMs = timeoutMsDefault }: PlanRequest,
  url: string,
  refused: (why: string) => TransformRefused,
  body?: object,
): Promise<object> {
  let status: number | undefined
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    // A redirect would carry the credential elsewhere.
    const answer = await ownFetch(url, {
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      redirect: 'error',
      signal,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    status = answer.status
    const bytes = await answer.arrayBuffer()
    if (status === 200 && bytes.byteLength <= answerBytesMax) {
      const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
      if (typeof value === 'object' && value !== null) return value
    }
  } catch {
    // What was thrown may quote the credential, so that only the status is told.
  }
  const why = status === undefined ? 'the service did not answer in time' : `the service answered ${status}`
  throw refused(why)
}
