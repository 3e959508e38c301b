/**
 * Opens the store, PostgreSQL with AGE or the embedded database, and runs its tenant transactions. It is the only
 * access to the data. The aggregates in the folders beside it are plain functions over it.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { Fault } from '../base/fault.ts'
import { parseTenantId, type TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { embeddedBackend } from './database/embedded.ts'
import { auditLane, functionsOfAudit } from './database/lane.ts'
import {
  type Link,
  type Listening,
  type OnNotification,
  postgresBackend,
  type StoreBackend,
} from './database/link.ts'
import { lockedTables, lockNotice, lockSpaceOf } from './database/lock-space.ts'
import { migrate } from './database/migrations.ts'
import { graphName, schemaName } from './database/names.ts'
import { Pool, type PoolUse } from './database/pool.ts'
import { assertOwnSessions } from './database/pooler.ts'
import type { Roots } from './database/roots.ts'
import { areSecretsKeys, type SecretsKeys } from './database/sealing.ts'
import {
  beginText,
  callFunction,
  type Param,
  resetConnection,
  StoreConnection,
  type TransactionOptions,
  type Tx,
} from './database/session.ts'
import { toStoreFault } from './database/store-fault.ts'

export interface StoreOptions extends SecretsKeys {
  /** A PostgreSQL server; without it the embedded database in `dataDirectory`. */
  readonly databaseUrl?: string | undefined
  readonly dataDirectory?: string | undefined
  /** A prepared data directory that is copied for a new embedded database. */
  readonly template?: string | undefined
  /** Connections to the server at once; default 10. */
  readonly poolMax?: number
  /** Whether migrations are applied. Otherwise a database that lacks some is refused. */
  readonly migrate: boolean
  /** Milliseconds that one statement may take; default `limits.storeStatementMs`. */
  readonly statementMs?: number
  /** Receives what an operator should know at start. */
  readonly onNotice: (notice: string) => void
  /** Receives the duration of each Cypher query, in seconds. */
  readonly onCypher?: (seconds: number) => void
}

/**
 * SQL functions (`migrations/functions/`) whose first parameter is the tenant and whose first statement enters it. Each
 * tenant has them in its schema (svc.make_tenant_functions).
 */
export type TenantFunction =
  | 'claim_territory'
  | 'complete_vended'
  | 'end_territory_sweep'
  | 'load_policies'
  | 'load_read'
  | 'number_events'
  | 'open_intent'
  | 'open_keyed_intent'
  | 'read_events'
  | 'record_unjudged'
  | 'record_usage'
  | 'record_verdict'
  | 'refuse_key'
  | 'reserve_vended'
/** SQL functions that are security definers owned by svc_admin. */
type AdminFunction = 'find_service_session' | 'probe_write'
/** The same, but they find the tenant's session before they enter the tenant. */
export type SessionFunction = 'begin_commit' | 'begin_keyed_commit'

/** What runs in a transaction. */
type Work<T> = (tx: Tx) => Promise<T>

export interface Store extends SecretsKeys {
  readonly backend: 'postgres' | 'embedded'
  /** What sessions and plans are derived from: the secrets key, until `openConfiguredStore` has read the stored ones. */
  readonly roots: Roots
  readonly onCypher: (seconds: number) => void
  /** How the connections of this process are used now. */
  poolUse(besides?: TenantId): PoolUse
  /**
   * Runs `work` in a transaction that sees and writes this tenant's rows only.
   * @throws Fault; what `work` throws; the signal's reason. A failed transaction leaves nothing behind. Where the
   * connection was lost during the commit, the outcome is unknown
   */
  tenantTransaction<T>(tenant: TenantId, work: Work<T>, options?: TransactionOptions): Promise<T>
  /** A tenant transaction of one statement, in one round trip. */
  tenantQuery<Row extends object>(
    tenant: TenantId,
    text: string,
    params?: readonly Param[],
    options?: TransactionOptions & { readonly prepare?: boolean },
  ): Promise<readonly Row[]>
  /**
   * A tenant transaction of one call of a function of the tenant's schema that enters the tenant itself, in one message.
   * The connection needs no reset, because every setting is local to the transaction.
   * @param params the parameters after the tenant; JSON as text
   */
  tenantCall<Row extends object>(
    tenant: TenantId,
    name: TenantFunction,
    params: readonly Param[],
  ): Promise<readonly Row[]>
  /** The same for a function that runs as svc_admin for every caller. */
  adminCall<Row extends object>(name: AdminFunction, params: readonly Param[]): Promise<readonly Row[]>
  /**
   * The same for a function that finds a session and enters its tenant.
   * @param expected whose session it should be; used only for that tenant's plans
   */
  sessionCall<Row extends object>(
    expected: TenantId,
    name: SessionFunction,
    params: readonly Param[],
  ): Promise<readonly Row[]>
  /** A transaction as svc_admin, for work before the tenant is known (sessions, webhooks) or across tenants. */
  adminTransaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** An admin transaction of one statement, in one round trip. */
  adminQuery<Row extends object>(
    text: string,
    params?: readonly Param[],
    options?: TransactionOptions,
  ): Promise<readonly Row[]>
  /** A transaction as svc_owner in the context of `tenant`, for provisioning only. */
  ownerTransaction<T>(tenant: TenantId, work: Work<T>, options?: TransactionOptions): Promise<T>
  /** A connection outside the pool, for a lock that outlives transactions. The caller discards it. */
  openLink(): Promise<Link>
  /** As `StoreBackend.listen`. @throws Fault where the store does not answer */
  listen(channel: string, onMessage: (message: string) => void): Promise<Listening | undefined>
  /**
   * Calls `listener` with the messages of the channel of governance versions, perhaps several times with the same.
   * A message that a transaction of this store sends arrives before that transaction returns.
   * @returns a function that ends the subscription
   */
  subscribe(listener: OnNotification): () => void
  /** Whether the database answers a trivial graph query. */
  healthy(): Promise<boolean>
  /**
   * The tables for whose lock a statement has waited for over a second, as while an operator holds one.
   * @throws Fault where the database does not answer
   */
  lockedTables(): Promise<readonly string[]>
  /** Writes what nobody reads. @throws Fault where the database refuses writes, as a standby or for want of space */
  checkWrites(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the store, and migrates its schema or checks that it is up to date.
 * @throws Fault `misconfigured` (a held directory, a bad key, missing privileges, a changed migration),
 * `unavailable` where the database does not answer
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  if (!areSecretsKeys(options)) throw new Fault('misconfigured', 'The secrets key must have 32 bytes.')
  const notice = options.onNotice
  const statementMs = options.statementMs ?? limits.storeStatementMs
  const listeners = new Set<OnNotification>()
  const onNotification = (message: string) => {
    for (const listener of listeners) listener(message)
  }
  const backend = await openBackend(options, { statementMs, onNotification })
  try {
    const pool = new Pool(backend)
    if (backend.name === 'postgres')
      await assertOwnSessions(() => backend.open('connecting'), backend.statementMs)
    const link = await backend.open('connecting')
    try {
      await migrate(link.sql, options.migrate ? 'apply' : 'verify', notice)
      const locks = backend.name === 'postgres' ? lockNotice(await lockSpaceOf(link.sql)) : undefined
      if (locks !== undefined) notice(locks)
      if (!(await resetConnection(link, statementMs)))
        throw new Fault('unavailable', 'The database connection was lost.')
    } catch (error) {
      await link.discard()
      throw error
    }
    if (backend.name === 'embedded') {
      notice('Embedded database: acknowledged writes survive the death of this process, not of the machine.')
      pool.adopt(link)
    } else await link.close()
    return storeOver(backend, pool, options, listeners)
  } catch (error) {
    await backend.close()
    throw toStoreFault(error)
  }
}

function openBackend(
  options: StoreOptions,
  shared: { readonly statementMs: number; readonly onNotification: OnNotification },
): Promise<StoreBackend> | StoreBackend {
  const { databaseUrl, dataDirectory, template, poolMax = 10 } = options
  if (databaseUrl !== undefined) return postgresBackend({ databaseUrl, poolMax, ...shared })
  if (dataDirectory === undefined)
    throw new Fault('misconfigured', 'Neither a database URL nor a data directory is set.')
  return embeddedBackend({ dataDirectory, ...shared, ...(template !== undefined && { template }) })
}

const adminPath = 'svc, pg_catalog'

function tenantPath(tenant: TenantId): string {
  return `${schemaName(tenant)}, ${graphName(tenant)}, svc, ag_catalog, pg_catalog`
}

/** The tenant as text for a statement. It checks at run time that the text is a UUID. */
function checkedTenant(tenant: TenantId): TenantId {
  const parsed = parseTenantId(String(tenant ?? ''))
  if (parsed === undefined || parsed !== tenant)
    throw new Fault('tenant_context_missing', 'No tenant in this request.')
  return parsed
}

function storeOver(
  backend: StoreBackend,
  pool: Pool,
  settings: StoreOptions,
  listeners: Set<OnNotification>,
): Store {
  const inside = new AsyncLocalStorage<{ open: boolean }>()
  const inAuditLane = auditLane(backend.linksMax)

  function refuseNested(): void {
    if (inside.getStore()?.open)
      throw new Fault('internal', 'Internal error.', {
        detail: 'a transaction was opened inside another: use the one at hand',
      })
  }

  /** Borrows a connection for one transaction, and returns it reset or discards it. */
  async function transact<T>(
    tenant: TenantId | undefined,
    begin: string,
    work: (connection: StoreConnection) => Promise<T>,
    { signal, statementMs }: TransactionOptions = {},
  ): Promise<T> {
    refuseNested()
    const link = await pool.borrow(tenant, signal)
    if (signal?.aborted) {
      // It aborted while the connection was being opened, so the listener below would never fire.
      pool.release(link)
      throw signal.reason
    }
    const connection = new StoreConnection(link, Math.max(backend.statementMs, statementMs ?? 0), begin)
    const aborted = Promise.withResolvers<never>()
    aborted.promise.catch(() => {})
    const onAbort = () => {
      connection.stop(new Fault('unavailable', 'The request was cancelled.', { cause: signal?.reason }))
      aborted.reject(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const scope = { open: true }
    const done = (async () => {
      try {
        return await inside.run(scope, () => work(connection))
      } finally {
        scope.open = false
        signal?.removeEventListener('abort', onAbort)
        const reset =
          connection.isReset ||
          (!connection.isCancelled && (await resetConnection(link, backend.statementMs)))
        if (reset && !connection.isCancelled) pool.release(link)
        else void pool.discard(link).catch(() => {})
      }
    })()
    return Promise.race([done, aborted.promise])
  }

  /** One call that leaves the connection's settings unchanged. After a failed call the connection is reset. */
  async function call<Row extends object>(
    tenant: TenantId | undefined,
    schema: string,
    name: string,
    params: readonly Param[],
  ): Promise<readonly Row[]> {
    refuseNested()
    const link = await pool.borrow(tenant)
    let clean = false
    try {
      const rows = await callFunction<Row>(link, backend.statementMs, `${schema}.${name}`, params)
      clean = true
      return rows
    } finally {
      if (clean || (await resetConnection(link, backend.statementMs))) pool.release(link)
      else void pool.discard(link).catch(() => {})
    }
  }

  const transaction =
    <T>(work: (tx: Tx) => Promise<T>) =>
    async (connection: StoreConnection) => {
      const result = await work(connection.tx)
      await connection.commit()
      return result
    }

  const query =
    <Row extends object>(text: string, params: readonly Param[] = [], prepare = true) =>
    (connection: StoreConnection) =>
      connection.only<Row>(text, params, prepare)

  const { onCypher = () => {}, secretsKey, nextKey, formerKey } = settings

  return {
    backend: backend.name,
    ...{ secretsKey, nextKey, formerKey, onCypher },
    roots: { sessions: secretsKey, plans: secretsKey },
    poolUse: (besides) => pool.use(besides),
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
      const work = () => transact(id, begin, query<Row>(text, params, options.prepare), options)
      return inAuditLane(text.includes('audit_log'), id, work, options.signal)
    },
    async tenantCall<Row extends object>(tenant: TenantId, name: TenantFunction, params: readonly Param[]) {
      const id = checkedTenant(tenant)
      const work = () => call<Row>(id, schemaName(id), name, [id, ...params])
      return inAuditLane(functionsOfAudit.has(name), id, work)
    },
    adminCall: (name, params) => call(undefined, 'svc', name, params),
    async sessionCall<Row extends object>(
      expected: TenantId,
      name: SessionFunction,
      params: readonly Param[],
    ) {
      const id = checkedTenant(expected)
      const work = () => call<Row>(id, schemaName(id), name, params)
      return inAuditLane(functionsOfAudit.has(name), id, work)
    },
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
    async ownerTransaction(tenant, work, options = {}) {
      const id = checkedTenant(tenant)
      const begin = beginText('svc_owner', id, tenantPath(id), options)
      return transact(undefined, begin, transaction(work), options)
    },
    openLink: () => backend.open('tenant'),
    async listen(channel, onMessage) {
      try {
        return await backend.listen(channel, onMessage)
      } catch (error) {
        throw toStoreFault(error)
      }
    },
    subscribe(listener) {
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
    async lockedTables() {
      const begin = beginText('svc_tenant', '', 'pg_catalog', { readOnly: true })
      const rows = await transact(undefined, begin, query<{ name: string }>(lockedTables))
      return rows.map(({ name }) => name)
    },
    async checkWrites() {
      await call(undefined, 'svc', 'probe_write', [])
    },
    async close() {
      await pool.close()
      await backend.close()
    },
  }
}
