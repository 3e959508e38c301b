/** Starts the real PostgreSQL wire server on a free port, over queries that the test scripts. */

import type { BlockList } from 'node:net'
import type { CredentialReader, ReadCredential } from '../../src/auth/read-credential.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { ResultBatch } from '../../src/core/result-batch.ts'
import type { SqlType } from '../../src/core/sql-type.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { SqlError } from '../../src/query/compile/base/sql-error.ts'
import type { QueryContext, QueryService, StatementSource } from '../../src/query/query-service.ts'
import { Activity } from '../../src/server/pgwire/activity.ts'
import { CancelKeys } from '../../src/server/pgwire/cancel-keys.ts'
import { ConnectionSlots, defaultSlots } from '../../src/server/pgwire/connection-slots.ts'
import { listenPgwire, type PgwireServer, type TlsOptions } from '../../src/server/pgwire/listen.ts'
import { LoginThrottle } from '../../src/server/pgwire/login-throttle.ts'
import type { ServeParts } from '../../src/server/pgwire/serve-client.ts'
import { wireMeter } from '../../src/server/pgwire/wire-meter.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts'
import { rejectsWhenAborted } from './aborted.ts'
import { WireClient, type WireClientOptions } from './wire-client.ts'

export const testTenant = '6f0f4b1e-0000-4000-8000-00000000000a' as TenantId
export const testSecret = 'svc_test_secret'

/** What a query of a test answers. */
export interface TestQuery {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[]
  readonly parameters?: readonly SqlType[]
  readonly batches: (run: TestRun) => AsyncIterable<ResultBatch>
  /** Asked before rows leave while more may follow; does nothing where absent. */
  readonly putOnRecord?: () => Promise<void>
  /** Asked before rows of a batch are given; says yes where absent. */
  readonly confirm?: () => Promise<void> | undefined
}

export interface TestRun {
  readonly parameters: readonly (string | null)[]
  readonly signal: AbortSignal
  readonly context: QueryContext
}

export interface WireService extends AsyncDisposable {
  readonly server: PgwireServer
  readonly port: number
  readonly metrics: Metrics
  readonly log: () => string
  /** Texts that were run, with what became of them. */
  readonly runs: { text: string; state: 'running' | 'ended' | 'stopped' }[]
  logIn(parameters?: Readonly<Record<string, string>>, protocol?: number): Promise<WireClient>
  readonly options: WireClientOptions
}

export interface WireServiceOptions {
  readonly queries?: Readonly<Record<string, TestQuery>>
  readonly tls?: TlsOptions
  /** Peers whose connections begin with a PROXY protocol header. */
  readonly proxies?: BlockList
  readonly parts?: Partial<ServeParts>
}

/** Whether the credential of `testSecret` counts; a test may say no. */
export interface TestCredentials extends CredentialReader {
  valid: boolean
}

/** One secret of one principal, ada, who is a steward. */
export function testCredentials(roles: readonly string[] = ['steward']): TestCredentials {
  const reader: TestCredentials = {
    valid: true,
    async bySecret(secret) {
      return secret === testSecret ? credential : undefined
    },
    byVerifier: async () => undefined,
    suspended: async () => undefined,
  }
  const credential: ReadCredential = {
    tenant: testTenant,
    principal: { sub: 'ada', roles },
    principalSource: 'session',
    stillValid: async () => reader.valid,
  }
  return reader
}

/** Starts the server. */
export async function startWire(options: WireServiceOptions = {}): Promise<WireService> {
  const lines: string[] = []
  const log = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })
  const metrics = createMetrics()
  const runs: WireService['runs'] = []
  const server = listenPgwire(
    { hostname: '127.0.0.1', port: 0, tls: options.tls, proxies: options.proxies },
    {
      queries: testQueries(options.queries ?? {}, runs),
      explain: async ({ principal }, { statement, parameters = [] }) => ({
        ...{ type: 'Foreign Scan', rows: 10, width: 4, output: ['n'] },
        facts: { Explained: `${[statement, ...parameters].join(', ')} for ${principal.sub}` },
      }),
      meter: wireMeter(metrics, log),
      log,
      clock: systemClock,
      credentials: testCredentials(),
      throttle: new LoginThrottle(systemClock),
      allowPlaintext: false,
      mockKey: new Uint8Array(32),
      slots: new ConnectionSlots(defaultSlots),
      activity: new Activity(),
      cancelKeys: new CancelKeys(undefined),
      hasCatalog: async (_, nickname) => nickname === 'main',
      ...options.parts,
    },
  )
  const client = { port: server.port }
  return {
    server,
    port: server.port,
    metrics,
    runs,
    log: () => lines.join(''),
    options: client,
    logIn: (parameters = {}, protocol) =>
      WireClient.logIn(
        client,
        { user: 'ada', database: 'main', password: testSecret, ...parameters },
        protocol,
      ),
    async [Symbol.asyncDispose]() {
      await server.stop(5_000)
    },
  }
}

const textOf = (source: StatementSource) => (typeof source === 'string' ? source.trim() : '')

function testQueries(queries: Readonly<Record<string, TestQuery>>, runs: WireService['runs']): QueryService {
  const find = (source: StatementSource) => {
    const query = queries[textOf(source)]
    if (query === undefined) throw new SqlError('42P01', 'The relation does not exist.', 7)
    return query
  }
  return {
    async prepare(_, source, types = []) {
      const { columns, parameters = [] } = find(source)
      return {
        source,
        columns,
        parameters: parameters.map((type, index) => types[index] ?? type),
        needsValues: [],
      }
    },
    run(context, { source, columns }, { parameters = [], signal }) {
      const run = { text: textOf(source), state: 'running' as 'running' | 'ended' | 'stopped' }
      runs.push(run)
      signal.addEventListener('abort', () => {
        run.state = 'stopped'
      })
      async function* batches() {
        yield* find(source).batches({ parameters, signal, context })
        run.state = 'ended'
      }
      const putOnRecord = async () => await find(source).putOnRecord?.()
      const confirm = () => find(source).confirm?.()
      const applied = () => ({ contracts: [], reads: [], policies: [] })
      return Object.assign(batches(), {
        queryId: crypto.randomUUID(),
        columns,
        applied,
        putOnRecord,
        confirm,
      })
    },
  }
}

/** A query of whole numbers from 1, in batches. */
export function numbers(count: number, batchRows = 100): TestQuery {
  return {
    columns: [{ name: 'n', type: 'int4' }],
    async *batches() {
      for (let first = 1; first <= count; first += batchRows) {
        const length = Math.min(batchRows, count - first + 1)
        yield {
          rowCount: length,
          columns: [{ type: 'int4', values: Int32Array.from({ length }, (_, index) => first + index) }],
        }
      }
    },
  }
}

/** A query that begins and never ends, until it is stopped. */
export function endless(): TestQuery {
  return {
    columns: [{ name: 'n', type: 'int4' }],
    async *batches({ signal }) {
      yield { rowCount: 1, columns: [{ type: 'int4', values: Int32Array.of(1) }] }
      await rejectsWhenAborted(signal)
    },
  }
}
