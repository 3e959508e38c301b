/** Starts a Trino of one node with the catalogs of a test, and runs SQL on it. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { java, packageFolder } from './packages.ts'
import { startServer } from './processes.ts'

type Properties = Readonly<Record<string, string>>

export interface TrinoServer extends AsyncDisposable {
  readonly url: string
}

export interface TrinoOptions {
  /** By the name of the catalog, its properties. */
  readonly catalogs: Readonly<Record<string, Properties>>
  readonly config?: Properties
  /** Where spooled segments go; without it nothing is spooled. */
  readonly spooling?: Properties
}

/** Properties of an Iceberg catalog at a REST catalog on local files. */
export function icebergCatalog(uri: string, more: Properties = {}): Properties {
  return {
    'connector.name': 'iceberg',
    'iceberg.catalog.type': 'rest',
    'iceberg.rest-catalog.uri': uri,
    'iceberg.rest-catalog.nested-namespace-enabled': 'true',
    'fs.hadoop.enabled': 'true',
    ...more,
  }
}

/** Starts it, and waits until it takes queries. */
export async function startTrino({ catalogs, config, spooling }: TrinoOptions): Promise<TrinoServer> {
  const stack = new AsyncDisposableStack()
  try {
    const folder = await mkdtemp(join(tmpdir(), 'covenant-trino-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const port = freePort()
    const url = `http://127.0.0.1:${port}`
    await mkdir(join(folder, 'catalog'))
    for (const [name, properties] of Object.entries(catalogs))
      await writeProperties(join(folder, 'catalog', `${name}.properties`), properties)
    // Looked for in the working directory, wherever the other files are.
    await mkdir(join(folder, 'etc'))
    if (spooling !== undefined)
      await writeProperties(join(folder, 'etc/spooling-manager.properties'), spooling)
    await writeProperties(join(folder, 'log.properties'), { io: 'WARN', org: 'WARN', Bootstrap: 'WARN' })
    await writeProperties(join(folder, 'config.properties'), {
      coordinator: 'true',
      'node-scheduler.include-coordinator': 'true',
      'http-server.http.port': String(port),
      'discovery.uri': url,
      'plugin.dir': join(packageFolder('maven:trino'), 'plugin'),
      'query.max-memory': '900MB',
      'query.max-memory-per-node': '900MB',
      'task.concurrency': '2',
      ...config,
    })
    const settings: Properties = {
      'node.environment': 'test',
      'node.id': 'test',
      'node.data-dir': join(folder, 'data'),
      'log.levels-file': join(folder, 'log.properties'),
      config: join(folder, 'config.properties'),
      'catalog.config-dir': join(folder, 'catalog'),
    }
    const command = [
      java('python:java-25'),
      '-Xmx2g',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      '--add-opens=java.base/java.nio=ALL-UNNAMED',
      '--sun-misc-unsafe-memory-access=allow',
      '--enable-native-access=ALL-UNNAMED',
      ...Object.entries(settings).map(([name, value]) => `-D${name}=${value}`),
      '-cp',
      join(packageFolder('maven:trino'), 'lib/*'),
      'io.trino.server.TrinoServer',
    ]
    // It looks for keys of its own only where it is given none; there are none here.
    const env = { AWS_EC2_METADATA_DISABLED: 'true' }
    stack.use(await startServer('trino', command, `${url}/v1/info`, { cwd: folder, env }))
    while (!(await isReady(url, catalogs))) await Bun.sleep(200)
    return { url, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

/** It takes queries before it knows of itself as a node that could run those of every catalog. */
async function isReady(url: string, catalogs: Readonly<Record<string, Properties>>): Promise<boolean> {
  const info = (await (await fetch(`${url}/v1/info`)).json()) as { readonly starting: boolean }
  if (info.starting) return false
  try {
    for (const [catalog, properties] of Object.entries(catalogs)) {
      // The generator's splits go to nodes, and each catalog learns of those by itself.
      const isGenerator = properties['connector.name'] === 'tpch'
      await trinoSql(
        url,
        `SELECT * FROM ${catalog}.${isGenerator ? 'tiny.region' : 'information_schema.schemata'}`,
      )
    }
    const nodes = await trinoSql(url, `SELECT 1 FROM system.runtime.nodes WHERE state = 'active'`)
    return nodes.length > 0
  } catch (error) {
    if (error instanceof TrinoRefusal) return false
    throw error
  }
}

async function writeProperties(path: string, properties: Properties): Promise<void> {
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(path, lines.join(''))
}

/** Trino refused or failed a statement; the message is Trino's. */
export class TrinoRefusal extends Error {
  /** @param causes what Trino shows only to those who ask for the stack */
  constructor(
    message: string,
    readonly causes: readonly string[],
  ) {
    super(message)
  }
}

interface FailureInfo {
  readonly message?: string
  readonly cause?: FailureInfo
}

function causesOf(info: FailureInfo | undefined): string[] {
  return info === undefined ? [] : [info.message ?? '', ...causesOf(info.cause)]
}

interface Page {
  readonly nextUri?: string
  readonly data?: readonly (readonly unknown[])[]
  readonly error?: { readonly message: string; readonly failureInfo?: FailureInfo }
}

/**
 * Runs a statement as an ordinary client, not through the engine under test.
 * @param session headers of the client, such as its time zone; UTC where absent
 * @throws TrinoRefusal
 */
export async function trinoSql(
  url: string,
  sql: string,
  session: Properties = {},
): Promise<readonly (readonly unknown[])[]> {
  const headers = { 'x-trino-user': 'loader', 'x-trino-time-zone': 'UTC', ...session }
  const rows: (readonly unknown[])[] = []
  let page = (await (
    await fetch(`${url}/v1/statement`, { method: 'POST', headers, body: sql })
  ).json()) as Page
  for (;;) {
    if (page.error !== undefined)
      throw new TrinoRefusal(page.error.message, causesOf(page.error.failureInfo?.cause))
    rows.push(...(page.data ?? []))
    if (page.nextUri === undefined) return rows
    page = (await (await fetch(page.nextUri, { headers })).json()) as Page
  }
}
