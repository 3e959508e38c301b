/**
 * The set-up of suites in which clients reach storage by what the service gives them: moto with its IAM enforced, the
 * service with a license and a tenant that enforces its territory, and sessions of PyIceberg, Spark and DuckDB.
 */

import { join } from 'node:path'
import type { SessionScope } from '../../src/core/session.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { licenseFor } from '../support/license.ts'
import {
  addTenant,
  openUncontracted,
  startTestService,
  type TestService,
  type TestTenant,
} from '../support/service.ts'
import { enforceTerritory } from '../support/territory.ts'
import { documentedSettings, documentedTrino } from './client-docs.ts'
import { type MotoOptions, startEnforcingMoto } from './moto.ts'
import { packageFolder } from './packages.ts'
import { type OpenSession, openSession, type Step } from './sessions.ts'
import { openSpark, s3Jars } from './spark-session.ts'
import type { RoleStorage, StorageServer } from './versitygw.ts'

const bucket = 'lake'

/** A service session that a client signs in with. */
export interface LakeLogin {
  readonly id: string
  readonly secret: string
  readonly tenant: TestTenant
}

/** A client whose steps come one by one. */
export interface LakeClient {
  readonly id: string
  readonly secret: string
  /** What came of a step. */
  ask(step: unknown): Promise<Step>
  /** Its value. @throws Error with its message where it is refused */
  run(step: unknown): Promise<unknown>
}

export interface Lake extends AsyncDisposable {
  readonly storage: StorageServer
  readonly service: TestService
  readonly tenant: TestTenant
  /** Another tenant with a catalog credential of its own for the same catalog. */
  addTenant(name: string): Promise<TestTenant>
  /** Where a suite puts a table. */
  place(name: string): string
  logIn(name: string, scopes: readonly SessionScope[], tenant?: TestTenant): Promise<LakeLogin>
  /** The secret of a session that administers the tenant in a role. */
  logInAs(role: string): Promise<string>
  /** PyIceberg, with Arrow where keys are vended, else with s3fs. Steps are a name and its arguments. */
  python(log: string, login: LakeLogin): LakeClient
  /** Spark, with one catalog for each session. Steps are statements, or reads and writes of files by a table's access. */
  spark(log: string, logins: Readonly<Record<string, LakeLogin>>, seconds?: number): Promise<LakeClient>
  /** The properties of a Trino catalog that asks for credentials. */
  trinoCatalog(login: LakeLogin): Readonly<Record<string, string>>
  /** DuckDB. Steps are statements. */
  duckdb(log: string, login: LakeLogin): LakeClient
  /** Two tables with one row each, written by PyIceberg: `sales.orders_s3` and `sales.secrets_s3`. */
  fill(writer: LakeClient): Promise<void>
}

export interface LakeOptions extends MotoOptions {
  /** Instead of moto: for signatures, and for keys where it has roles. */
  readonly storage?: StorageServer | RoleStorage
  /** Whether writers are given keys that delete. */
  readonly deletes?: boolean
}

/** @param mode of the catalog */
export async function startLake(mode: 'vend' | 'sign', options: LakeOptions = {}): Promise<Lake> {
  const stack = new AsyncDisposableStack()
  try {
    const moto = options.storage === undefined ? await startEnforcingMoto(bucket, options) : undefined
    const storage = stack.use(options.storage ?? moto)
    if (storage === undefined) throw new Error('there is no storage')
    const service = stack.use(await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } }))
    const config = {
      'vending.mode': mode,
      ...(mode === 'vend' &&
        moto && {
          'vending.role-arn': moto.role,
          'vending.sts-endpoint': moto.url,
          'vending.iam-endpoint': moto.url,
        }),
      ...('role' in storage &&
        'stsUrl' in storage && {
          'vending.role-arn': storage.role,
          'vending.sts-endpoint': storage.stsUrl,
        }),
      ...(options.deletes && { 'vending.deletes': true }),
      's3.access-key-id': storage.id,
      's3.secret-access-key': storage.secret,
      's3.endpoint': storage.url,
      's3.region': 'us-east-1',
      storage_roots: [`s3://${bucket}/wh`],
    }
    const add = async (name: string) => {
      const added = await addTenant(service.store, name, service.catalog.url, config)
      await enforceTerritory(service.store, added.tenant)
      // Readers look at tables that no contract governs.
      await openUncontracted(service.store, added)
      return added
    }
    const tenant = await add('lake')
    const catalogUri = () => new URL('/v1/iceberg/main', service.app.url).href
    const settingsOf = (client: string, { id, secret }: LakeLogin) =>
      documentedSettings(client, { catalogUri, secret, sessionId: id })
    const delegation = mode === 'vend' ? 'vended-credentials' : 'remote-signing'
    const clientOf = (login: LakeLogin, session: OpenSession): LakeClient => {
      stack.use(session)
      return {
        id: login.id,
        secret: login.secret,
        ask: session.ask,
        async run(step) {
          const { value, message } = await session.ask(step)
          if (message !== undefined) throw new Error(`${JSON.stringify(step)}: ${message.slice(0, 600)}`)
          return value
        },
      }
    }
    return {
      ...{ storage, service, tenant },
      addTenant: add,
      place,
      async logIn(name, scopes, of = tenant) {
        const principal = { sub: name, roles: [] }
        const made = await createServiceSession(service.store, of.tenant, { name, principal, scopes })
        return { id: made.id, secret: made.secret, tenant: of }
      },
      async logInAs(role) {
        const principal = { sub: role, roles: [role] }
        const wanted = { name: role, principal, scopes: ['read', 'admin'] } as const
        return (await createServiceSession(service.store, tenant.tenant, wanted)).secret
      },
      python: (log, login) =>
        clientOf(
          login,
          openSession({
            python: join(
              packageFolder(mode === 'vend' ? 'python:pyiceberg' : 'python:pyiceberg-s3fs'),
              'bin/python',
            ),
            script: 'vending_session.py',
            log,
            args: [],
            env: {
              SETTINGS: settingsOf('PyIceberg', login),
              ...(mode === 'sign' && {
                PYICEBERG_CATALOG__COVENANT__PY_IO_IMPL: 'pyiceberg.io.fsspec.FsspecFileIO',
                PYICEBERG_CATALOG__COVENANT__HEADER__X_ICEBERG_ACCESS_DELEGATION: delegation,
                AWS_EC2_METADATA_DISABLED: 'true',
              }),
            },
            seconds: 250,
          }),
        ),
      async spark(log, logins, seconds = 300) {
        const settings = Object.entries(logins).map(([name, login]) =>
          [
            settingsOf('Spark', login),
            `spark.sql.catalog.covenant.header.X-Iceberg-Access-Delegation ${delegation}`,
            // A table stays loaded, so that its access is renewed and not given again.
            'spark.sql.catalog.covenant.cache.expiration-interval-ms -1',
          ]
            .join('\n')
            .replaceAll('spark.sql.catalog.covenant', `spark.sql.catalog.${name}`),
        )
        const [first] = Object.values(logins)
        if (first === undefined) throw new Error('Spark needs a catalog')
        return clientOf(
          first,
          await openSpark({ settings: settings.join('\n'), log, seconds, jars: s3Jars() }),
        )
      },
      trinoCatalog: ({ id, secret }) => ({
        ...documentedTrino({ catalogUri, secret, sessionId: id }),
        'iceberg.rest-catalog.vended-credentials-enabled': 'true',
        'fs.native-s3.enabled': 'true',
        's3.endpoint': storage.url,
        's3.region': 'us-east-1',
        's3.path-style-access': 'true',
      }),
      duckdb: (log, login) =>
        clientOf(
          login,
          openSession({
            python: join(packageFolder('python:duckdb'), 'bin/python'),
            script: 'sql_session.py',
            log,
            args: ['duckdb'],
            env: { ATTACH: settingsOf('DuckDB', login) },
            seconds: 250,
          }),
        ),
      async fill(writer) {
        for (const name of ['orders', 'secrets']) {
          await writer.run(['create', { name: `sales.${name}_s3`, location: place(name) }])
          await writer.run(['append', { name: `sales.${name}_s3`, at: 1, note: name }])
        }
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

const place = (name: string) => `s3://${bucket}/wh/${name}_s3`
