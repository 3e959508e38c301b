/** Starts real catalogs for benchmarks: those of the client tests, in the same versions. */

import { join } from 'node:path'
import { fetchPackage } from '../test/clients/packages.ts'
import { maven, type Package } from '../test/clients/pins.ts'
import { startNessie, startRestFixture, startS3 } from '../test/clients/servers.ts'
import { startChild } from './child.ts'
import type { StorageOrder, StorageResults } from './storage-process.ts'
import type { StorageName } from './storage-times.ts'
import type { UpstreamAddress } from './upstream.ts'

export const realCatalogNames = ['nessie', 'rest-fixture'] as const
export type RealCatalogName = (typeof realCatalogNames)[number]

export interface RealCatalog extends AsyncDisposable {
  readonly address: UpstreamAddress
}

interface Known {
  readonly needs: readonly Package[]
  /** What it needs besides to keep its tables in object storage. */
  readonly needsForStorage: readonly Package[]
  readonly kind: UpstreamAddress['kind']
  readonly version: string
  readonly start: (storageUrl?: string) => Promise<{ readonly url: string } & AsyncDisposable>
}

const bucket = 'warehouse'
const versionOf = (pin: keyof typeof maven) => maven[pin].coordinates[0].split(':')[2] as string

const known: Readonly<Record<RealCatalogName, Known>> = {
  nessie: {
    needs: ['python:java', 'python:moto', 'maven:nessie'],
    needsForStorage: [],
    kind: 'beta',
    version: versionOf('nessie'),
    start: (storageUrl) => startNessie(undefined, storageUrl),
  },
  'rest-fixture': {
    needs: ['python:java', 'maven:iceberg-rest'],
    needsForStorage: ['python:moto', 'maven:iceberg-s3'],
    kind: 'alpha',
    version: versionOf('iceberg-rest'),
    start: (storageUrl) =>
      startRestFixture(
        storageUrl === undefined ? undefined : { url: storageUrl, warehouse: `s3://${bucket}/` },
      ),
  },
}

/** One package may be a few hundred megabytes. */
const fetchSeconds = 600

/** The version that `startRealCatalog` starts. */
export function realCatalogVersion(name: RealCatalogName): string {
  return known[name].version
}

/**
 * Fetches the catalog into .cache/clients if it is missing, and starts it on this machine, without tokens.
 * @param storage object storage whose times that of the catalog takes; without it they are those of this machine
 * @throws CannotFetch with the reason when it cannot be fetched
 */
export async function startRealCatalog(
  name: RealCatalogName,
  storage: StorageName | undefined,
): Promise<RealCatalog> {
  const { needs, needsForStorage, kind, start } = known[name]
  const packages = storage === undefined ? needs : [...needs, ...needsForStorage]
  for (const one of packages) await fetchPackage(one, AbortSignal.timeout(fetchSeconds * 1_000))
  await using stack = new AsyncDisposableStack()
  const storageUrl = storage === undefined ? undefined : await startStorage(stack, storage)
  const server = stack.use(await start(storageUrl))
  const started = stack.move()
  return {
    address: {
      kind,
      endpoint: server.url,
      warehouse: 'warehouse',
      credential: undefined,
      tokenUrl: undefined,
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

async function startStorage(stack: AsyncDisposableStack, storage: StorageName): Promise<string> {
  const emulator = stack.use(await startS3(bucket))
  const script = join(import.meta.dir, 'storage-process.ts')
  const child = stack.use(startChild<StorageOrder, StorageResults>(script, 'the storage'))
  return (await child.ask({ kind: 'open', storage, url: emulator.url })).url
}
