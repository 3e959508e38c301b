/** A server that replies as a test says, in place of a Trino coordinator. */

import { newTenantId } from '../../../src/core/tenant.ts'
import type { EngineColumn, EngineRun, TableSnapshot } from '../../../src/engine/engine.ts'
import { parseTrinoSettings, type TrinoAuth } from '../../../src/engine/trino/settings.ts'
import { openTrino, type TrinoEngineOptions } from '../../../src/engine/trino/trino-engine.ts'
import { allowing } from '../../support/address-rules.ts'
import { batchText } from '../../support/vector-text.ts'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

export interface ScriptedTrino extends AsyncDisposable {
  readonly url: string
  readonly seen: SeenRequest[]
  /** The address of the answer with this number; the POST's answer is 0. */
  next(number: number): string
}

export type Step =
  | Response
  | Readonly<Record<string, unknown>>
  | ((trino: ScriptedTrino) => Response | Readonly<Record<string, unknown>> | Promise<Response>)

/**
 * Answers the POST with the first step and each GET of `next(n)` with step n; a list gives its items one after
 * another, the last one for ever. A DELETE is answered with 204.
 */
export function scriptTrino(
  steps: readonly (Step | readonly Step[])[],
  elsewhere: (request: Request) => Response | Promise<Response> = () => new Response('', { status: 404 }),
): ScriptedTrino {
  const seen: SeenRequest[] = []
  const counts = steps.map(() => 0)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = request.method === 'POST' ? await request.text() : ''
      seen.push({ method: request.method, path: pathname, headers: request.headers, body })
      if (request.method === 'DELETE') return new Response(null, { status: 204 })
      const number =
        pathname === '/v1/statement' ? 0 : Number(/^\/v1\/statement\/x\/(\d+)$/.exec(pathname)?.[1] ?? -1)
      const step = steps[number]
      if (step === undefined) return elsewhere(request)
      const list = (Array.isArray(step) ? step : [step]) as readonly Step[]
      const chosen = list[Math.min(counts[number] ?? 0, list.length - 1)] as Step
      counts[number] = (counts[number] ?? 0) + 1
      const answer = typeof chosen === 'function' ? await chosen(trino) : chosen
      return answer instanceof Response ? (answer.clone() as Response) : Response.json(answer)
    },
  })
  const url = server.url.origin
  const trino: ScriptedTrino = {
    url,
    seen,
    next: (number) => `${url}/v1/statement/x/${number}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  return trino
}

/** Members of an answer, in the state RUNNING unless told. */
export function answer(members: Readonly<Record<string, unknown>> = {}, state = 'RUNNING') {
  return { id: 'q', stats: { state, queuedTimeMillis: 7, physicalInputBytes: 4096 }, ...members }
}

export const bigintColumn = { name: 'n', type: 'bigint' }
export const finished = answer({ columns: [bigintColumn] }, 'FINISHED')

const anyRun: Omit<EngineRun, 'signal'> = {
  queryId: '5b0ff4d8-6f57-4a5c-8ba9-5ad0f4c2a111',
  tenant: newTenantId(),
  principal: 'ann',
}

export interface AskOptions extends Partial<TrinoEngineOptions> {
  readonly columns?: readonly EngineColumn[]
  readonly sql?: string
  readonly signal?: AbortSignal
  readonly principal?: string
  readonly config?: Readonly<Record<string, unknown>>
  /** In place of what the config says: a scripted Trino has no TLS. */
  readonly auth?: TrinoAuth
  readonly tables?: readonly TableSnapshot[]
}

/** An engine at the scripted server, and one session of it. */
export async function openSession(url: string, options: AskOptions = {}) {
  const {
    columns: _,
    sql: __,
    signal = new AbortController().signal,
    principal,
    config,
    auth,
    tables,
    ...engine
  } = options
  const settings = parseTrinoSettings({ config: { 'trino.uri': url, 'trino.catalog': 'lake', ...config } })
  if (settings === undefined) throw new Error('no settings')
  const opened = openTrino(
    { ...settings, ...(auth && { auth }) },
    {
      addressRules: allowing('127.0.0.0/8'),
      loadMetadata: () => Promise.reject(new Error('no table has metadata')),
      checkFiles: async () => {},
      ...engine,
    },
  )
  return await opened.open(tables ?? [], { ...anyRun, signal, ...(principal !== undefined && { principal }) })
}

/** Runs one statement to its end. */
export async function ask(url: string, options: AskOptions = {}) {
  const session = await openSession(url, options)
  try {
    const result = session.run({
      sql: options.sql ?? 'SELECT n',
      columns: options.columns ?? [{ name: 'n', type: 'int8' }],
    })
    const rows: (string | null)[][] = []
    const batchSizes: number[] = []
    for await (const batch of result) {
      batchSizes.push(batch.rowCount)
      rows.push(...batchText(batch))
    }
    return { rows, batchSizes, stats: result.stats() }
  } finally {
    await session.close()
  }
}

/** The SQLSTATE of the error that a run ends in. */
export async function failureOf(
  run: Promise<unknown>,
): Promise<{ code: string; message: string; cause: string }> {
  const thrown = await run.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof Error)) throw new Error('the run did not fail')
  const causes: string[] = []
  for (let at: unknown = thrown.cause; at instanceof Error; at = at.cause) causes.push(at.message)
  return { code: String(Reflect.get(thrown, 'code')), message: thrown.message, cause: causes.join(' / ') }
}
