/** Starts the real catalogs: Nessie with an S3 emulator, and Iceberg's REST fixture on local files. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { java, packageFolder } from './packages.ts'
import type { Package } from './pins.ts'
import { startServer } from './processes.ts'

export interface CatalogServer extends AsyncDisposable {
  /** Base of its Iceberg REST API; `/v1/…` follows. */
  readonly url: string
}

export interface NessieServer extends CatalogServer {
  /** Path of the warehouse on main below `url`. */
  readonly onMain: string
  /** Base of Nessie's own API. */
  readonly nativeUrl: string
}

/** An S3 emulator with one bucket; any credentials will do. */
export async function startS3(bucket: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const url = `http://127.0.0.1:${freePort()}`
  const moto = join(packageFolder('python:moto'), 'bin/moto_server')
  const server = await startServer(
    'moto',
    [moto, '-H', '127.0.0.1', '-p', new URL(url).port],
    `${url}/moto-api/`,
  )
  const made = await fetch(`${url}/${bucket}`, { method: 'PUT' })
  if (made.ok) return { url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  await server[Symbol.asyncDispose]()
  throw new Error(`the S3 emulator answered ${made.status}`)
}

/**
 * Nessie, in memory, its warehouse in an S3 emulator: Nessie serves Iceberg tables from object stores only.
 * @param issuer an OpenID provider whose tokens it demands; without one it is open
 * @param storageUrl of an S3 emulator with the bucket `warehouse`; one of its own where absent
 */
export async function startNessie(issuer?: string, storageUrl?: string): Promise<NessieServer> {
  const stack = new AsyncDisposableStack()
  try {
    const s3 = storageUrl ?? stack.use(await startS3('warehouse')).url
    const [port, managementPort] = [freePort(), freePort()]
    const settings: Record<string, string | number> = {
      'quarkus.http.host': '127.0.0.1',
      'quarkus.http.port': port,
      'quarkus.management.host': '127.0.0.1',
      'quarkus.management.port': managementPort,
      'quarkus.otel.sdk.disabled': 'true',
      'nessie.version.store.type': 'IN_MEMORY',
      'nessie.catalog.default-warehouse': 'warehouse',
      'nessie.catalog.warehouses.warehouse.location': 's3://warehouse/',
      'nessie.catalog.service.s3.default-options.endpoint': `${s3}/`,
      'nessie.catalog.service.s3.default-options.path-style-access': 'true',
      'nessie.catalog.service.s3.default-options.region': 'us-east-1',
      'nessie.catalog.service.s3.default-options.access-key': 'urn:nessie-secret:quarkus:emulator',
      'emulator.name': 'testing',
      'emulator.secret': 'testing',
      ...(issuer === undefined
        ? {}
        : {
            'nessie.server.authentication.enabled': 'true',
            'quarkus.oidc.auth-server-url': issuer,
            'quarkus.oidc.client-id': 'nessie',
          }),
    }
    const flags = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`)
    const jar = join(packageFolder('maven:nessie'), 'lib/nessie-quarkus-0.99.0-runner.jar')
    stack.use(
      await startServer(
        issuer === undefined ? 'nessie' : 'nessie-with-tokens',
        [java(), '-Xmx512m', '-XX:TieredStopAtLevel=1', ...flags, '-jar', jar],
        `http://127.0.0.1:${managementPort}/q/health/ready`,
      ),
    )
    return disposable(stack, {
      url: `http://127.0.0.1:${port}/iceberg`,
      onMain: '/v1/main%7Cwarehouse',
      nativeUrl: `http://127.0.0.1:${port}/api/v2`,
    })
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

export interface FixtureServer extends CatalogServer {
  /** Where its own files lie and, unless they are in an object store, those of its tables. */
  readonly folder: string
}

/**
 * Iceberg's REST catalog fixture: the reference server over JDBC; it demands no token.
 * @param s3 where its warehouse lies, with the package `maven:iceberg-s3`; local files where absent
 */
export async function startRestFixture(s3?: {
  readonly url: string
  readonly warehouse: string
}): Promise<FixtureServer> {
  const stack = new AsyncDisposableStack()
  try {
    const folder = await mkdtemp(join(tmpdir(), 'covenant-fixture-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const port = freePort()
    const storage: Record<string, string> =
      s3 === undefined
        ? {
            CATALOG_WAREHOUSE: `file://${folder}`,
            CATALOG_IO__IMPL: 'org.apache.iceberg.hadoop.HadoopFileIO',
          }
        : {
            CATALOG_WAREHOUSE: s3.warehouse,
            CATALOG_IO__IMPL: 'org.apache.iceberg.aws.s3.S3FileIO',
            CATALOG_S3_ENDPOINT: s3.url,
            CATALOG_S3_PATH__STYLE__ACCESS: 'true',
            CATALOG_S3_ACCESS__KEY__ID: 'catalog',
            CATALOG_S3_SECRET__ACCESS__KEY: 'catalog',
            AWS_REGION: 'us-east-1',
          }
    const packages: Package[] = ['maven:iceberg-rest']
    if (s3 !== undefined) packages.push('maven:iceberg-s3')
    stack.use(
      await startServer(
        'rest-fixture',
        [
          java(),
          '-Xmx400m',
          '-cp',
          packages.map((name) => join(packageFolder(name, 'pinned'), 'lib/*')).join(':'),
          'org.apache.iceberg.rest.RESTCatalogServer',
        ],
        `http://127.0.0.1:${port}/v1/config`,
        {
          env: {
            CATALOG_REST_PORT: String(port),
            ...storage,
            CATALOG_URI: `jdbc:sqlite:file:${folder}/catalog.db`,
          },
        },
      ),
    )
    return disposable(stack, { url: `http://127.0.0.1:${port}`, folder })
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

function disposable<T extends object>(stack: AsyncDisposableStack, server: T): T & AsyncDisposable {
  return { ...server, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
