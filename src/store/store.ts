/**
 * The store: PostgreSQL with AGE, or the embedded database, behind tenant transactions. This is the
 * only way to the data; the aggregates beside this file are plain functions over it.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { Fault } from '../base/fault.ts'
import { parseTenantId, type TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { embeddedEngine } from './database/embedded.ts'
import {
  type Engine,
  type Link,
  type Listening,
  type OnNotification,
  postgresEngine,
} from './database/link.ts'
import { migrate } from './database/migrations.ts'
import { graphName, schemaName } from './database/names.ts'
import { Pool } from './database/pool.ts'
import {
  beginText,
  callFunction,
  type Param,
  resetSession,
  Session,
  type TransactionOptions,
  type Tx,
} from './database/session.ts'
import { toStoreFault } from './database/store-fault.ts'

export interface StoreOptions {
  /** A PostgreSQL server; without it the embedded database in `dataDirectory`. */
  readonly databaseUrl?: string | undefined
  readonly dataDirectory?: string | undefined
  /** A prepared data directory that a new embedded one starts from. */
  readonly template?: string | undefined
  /** 32 bytes: AES-256 for secrets at rest. */
  readonly secretsKey: Uint8Array
  /** Sessions on the server at once; default 10. */
  readonly poolMax?: number
  /** Whether migrations are applied; otherwise a database that lacks some is refused. */
  readonly migrate: boolean
  /** Milliseconds that one statement may take; default `limits.storeStatementMs`. */
  readonly statementMs?: number
  /** Told what an operator should know at start. */
  readonly onNotice: (notice: string) => void
  /** Told how long each Cypher query took, in seconds. */
  readonly onCypher?: (seconds: number) => void
}

/** Functions whose first parameter is the tenant, and whose first statement enters it (`migrations/functions/`). */
export type TenantFunction = 'load_policies' | 'load_read' | 'open_intent' | 'record_usage' | 'record_verdict'
/** Functions that are security definers owned by svc_admin. */
export type AdminFunction = 'find_service_session'
/** Functions that find the tenant's session before they enter the tenant. */
export type SessionFunction = 'begin_commit'

export interface Store {
  readonly engine: 'postgres' | 'embedded'
  readonly secretsKey: Uint8Array
  readonly onCypher: (seconds: number) => void
  /**
   * Runs `work` in a transaction that sees and writes this tenant's rows only.
   * @throws Fault; what `work` throws; the signal's reason. Nothing of a failed transaction stays, except
   * where the connection was lost in the commit itself: then the outcome is unknown
   */
  tenantTransaction<T>(
    tenant: TenantId,
    work: (tx: Tx) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>
  /** A tenant transaction of one statement, in one round trip. */
  tenantQuery<Row extends object>(
    tenant: TenantId,
    text: string,
    params?: readonly Param[],
    options?: TransactionOptions & { readonly prepare?: boolean },
  ): Promise<readonly Row[]>
  /**
   * A tenant transaction of one call of a function of the schema svc that enters the tenant by itself, in one
   * message: what is local to its transaction is all that it sets, so the session needs no reset.
   * @param params what follows the tenant; JSON as text
   */
  tenantCall<Row extends object>(
    tenant: TenantId,
    name: TenantFunction,
    params: readonly Param[],
  ): Promise<readonly Row[]>
  /** The same for a function that runs as svc_admin whoever calls it. */
  adminCall<Row extends object>(name: AdminFunction, params: readonly Param[]): Promise<readonly Row[]>
  /**
   * The same for a function that enters the tenant of a session that it finds itself.
   * @param expected whose session it should be: a hint at whose plans are of use, and nothing else
   */
  sessionCall<Row extends object>(
    expected: TenantId,
    name: SessionFunction,
    params: readonly Param[],
  ): Promise<readonly Row[]>
  /** A transaction as svc_admin: what precedes a tenant (sessions, webhooks) or spans tenants. */
  adminTransaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** An admin transaction of one statement, in one round trip. */
  adminQuery<Row extends object>(
    text: string,
    params?: readonly Param[],
    options?: TransactionOptions,
  ): Promise<readonly Row[]>
  /** A transaction as svc_owner in the context of `tenant`: provisioning only. */
  ownerTransaction<T>(tenant: TenantId, work: (tx: Tx) => Promise<T>): Promise<T>
  /** A session outside the pool, for a lock that outlives transactions. The caller discards it. */
  openLink(): Promise<Link>
  /** As `Engine.listen`. @throws Fault where the store does not answer */
  listen(channel: string, onMessage: (message: string) => void): Promise<Listening | undefined>
  /**
   * Told what any session here hears of the channel of governance versions, of each message perhaps several times:
   * what a transaction of this store raises, before that has returned.
   * @returns ends it
   */
  hear(listener: OnNotification): () => void
  /** Whether the database answers, and a trivial graph query too. */
  healthy(): Promise<boolean>
  close(): Promise<void>
}

/**
 * Opens the store and brings its schema up to date, or checks that it is.
 * @throws Fault `misconfigured` (a held directory, a bad key, missing privileges, a changed migration),
 * `unavailable` where the database does not answer
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  if (options.secretsKey.length !== 32)
    throw new Fault('misconfigured', 'The secrets key must have 32 bytes.')
  const notice = options.onNotice
  const statementMs = options.statementMs ?? limits.storeStatementMs
  const listeners = new Set<OnNotification>()
  const onNotification = (message: string) => {
    for (const listener of listeners) listener(message)
  }
  const engine = await openEngine(options, { statementMs, onNotification })
  try {
    const pool = new Pool(engine)
    const link = await engine.open('connecting')
    try {
      await migrate(link.sql, options.migrate ? 'apply' : 'verify', notice)
      if (!(await resetSession(link, statementMs)))
        throw new Fault('unavailable', 'The database connection was lost.')
    } catch (error) {
      await link.discard()
      throw error
    }
    if (engine.name === 'embedded') {
      notice('Embedded database: acknowledged writes survive the death of this process, not of the machine.')
      pool.adopt(link)
    } else await link.close()
    return storeOver(engine, pool, options, listeners)
  } catch (error) {
    await engine.close()
    throw toStoreFault(error)
  }
}

function openEngine(
  options: StoreOptions,
  shared: { readonly statementMs: number; readonly onNotification: OnNotification },
): Promise<Engine> | Engine {
  const { databaseUrl, dataDirectory, template, poolMax = 10 } = options
  if (databaseUrl !== undefined) return postgresEngine({ databaseUrl, poolMax, ...shared })
  if (dataDirectory === undefined)
    throw new Fault('misconfigured', 'Neither a database URL nor a data directory is set.')
  return embeddedEngine({ dataDirectory, ...shared, ...(template !== undefined && { template }) })
}

const adminPath = 'svc, pg_catalog'

function tenantPath(tenant: TenantId): string {
  return `${schemaName(tenant)}, ${graphName(tenant)}, svc, ag_catalog, pg_catalog`
}

/** The tenant as text for a statement: whatever a caller's types say, only a UUID gets there. */
function checkedTenant(tenant: TenantId): TenantId {
  const parsed = parseTenantId(String(tenant ?? ''))
  if (parsed === undefined || parsed !== tenant)
    throw new Fault('tenant_context_missing', 'No tenant in this request.')
  return parsed
}

function storeOver(
  engine: Engine,
  pool: Pool,
  settings: StoreOptions,
  listeners: Set<OnNotification>,
): Store {
  const inside = new AsyncLocalStorage<{ open: boolean }>()

  function refuseNested(): void {
    if (inside.getStore()?.open)
      throw new Fault('internal', 'Internal error.', {
        detail: 'a transaction was opened inside another: use the one at hand',
      })
  }

  /** Borrows a session for one transaction and gives it back reset, or discards it. */
  async function transact<T>(
    tenant: TenantId | undefined,
    begin: string,
    work: (session: Session) => Promise<T>,
    { signal, statementMs }: TransactionOptions = {},
  ): Promise<T> {
    refuseNested()
    const link = await pool.borrow(tenant, signal)
    if (signal?.aborted) {
      // It left while the session was being opened: nobody would hear of the abort any more.
      pool.release(link)
      throw signal.reason
    }
    const session = new Session(link, Math.max(engine.statementMs, statementMs ?? 0), begin)
    const aborted = Promise.withResolvers<never>()
    aborted.promise.catch(() => {})
    const onAbort = () => {
      session.stop(new Fault('unavailable', 'The request was cancelled.', { cause: signal?.reason }))
      aborted.reject(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const scope = { open: true }
    const done = (async () => {
      try {
        return await inside.run(scope, () => work(session))
      } finally {
        scope.open = false
        signal?.removeEventListener('abort', onAbort)
        const reset =
          session.isReset || (!session.isCancelled && (await resetSession(link, engine.statementMs)))
        if (reset && !session.isCancelled) pool.release(link)
        else void pool.discard(link).catch(() => {})
      }
    })()
    return Promise.race([done, aborted.promise])
  }

  /** One call on a session that its transaction leaves as it was. A failed one is reset all the same. */
  async function call<Row extends object>(
    tenant: TenantId | undefined,
    name: string,
    params: readonly Param[],
  ): Promise<readonly Row[]> {
    refuseNested()
    const link = await pool.borrow(tenant)
    let clean = false
    try {
      const rows = await callFunction<Row>(link, engine.statementMs, name, params)
      clean = true
      return rows
    } finally {
      if (clean || (await resetSession(link, engine.statementMs))) pool.release(link)
      else void pool.discard(link).catch(() => {})
    }
  }

  const transaction =
    <T>(work: (tx: Tx) => Promise<T>) =>
    async (session: Session) => {
      const result = await work(session.tx)
      await session.commit()
      return result
    }

  const query =
    <Row extends object>(text: string, params: readonly Param[] = [], prepare = true) =>
    (session: Session) =>
      session.only<Row>(text, params, prepare)

  const onCypher = settings.onCypher ?? (() => {})

  return {
    engine: engine.name,
    secretsKey: settings.secretsKey,
    onCypher,
    async tenantTransaction(tenant, work, options = {}) {
      const id = checkedTenant(tenant)
      const begin = beginText('svc_tenant', id, tenantPath(id), options)
      return transact(id, begin, transaction(work), options)
    },
    async tenantQuery<Row extends object>(
      tenant: TenantId,
      text: string,
      params: readonly Param[] = [],
      options: TransactionOptions & { readonly prepare?: boolean } = {},
    ) {
      const id = checkedTenant(tenant)
      const begin = beginText('svc_tenant', id, tenantPath(id), options)
      return transact(id, begin, query<Row>(text, params, options.prepare), options)
    },
    async tenantCall<Row extends object>(tenant: TenantId, name: TenantFunction, params: readonly Param[]) {
      const id = checkedTenant(tenant)
      return call<Row>(id, name, [id, ...params])
    },
    adminCall: (name, params) => call(undefined, name, params),
    sessionCall: (expected, name, params) => call(checkedTenant(expected), name, params),
    async adminTransaction(work, options = {}) {
      const begin = beginText('svc_admin', '', adminPath, options)
      return transact(undefined, begin, transaction(work), options)
    },
    async adminQuery<Row extends object>(
      text: string,
      params: readonly Param[] = [],
      options: TransactionOptions = {},
    ) {
      const begin = beginText('svc_admin', '', adminPath, options)
      return transact(undefined, begin, query<Row>(text, params), options)
    },
    async ownerTransaction(tenant, work) {
      const id = checkedTenant(tenant)
      return transact(undefined, beginText('svc_owner', id, tenantPath(id), {}), transaction(work))
    },
    openLink: () => engine.open('tenant'),
    async listen(channel, onMessage) {
      try {
        return await engine.listen(channel, onMessage)
      } catch (error) {
        throw toStoreFault(error)
      }
    },
    hear(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async healthy() {
      const text = `select * from cypher('svc_health', $$ RETURN 1 $$) as (one agtype)`
      const begin = beginText('svc_tenant', '', 'ag_catalog, pg_catalog', { readOnly: true })
      const startedMs = performance.now()
      try {
        return (await transact(undefined, begin, query(text, [], false))).length === 1
      } catch {
        return false
      } finally {
        onCypher((performance.now() - startedMs) / 1000)
      }
    },
    async close() {
      await pool.close()
      await engine.close()
    },
  }
}
