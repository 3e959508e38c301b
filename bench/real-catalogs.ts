/** Starts real catalogs for benchmarks: those of the client tests, in the same versions. */

import { fetchPackage } from '../test/clients/packages.ts'
import { maven, type Package } from '../test/clients/pins.ts'
import { startNessie, startRestFixture } from '../test/clients/servers.ts'
import type { UpstreamAddress } from './upstream.ts'

export const realCatalogNames = ['nessie', 'rest-fixture'] as const
export type RealCatalogName = (typeof realCatalogNames)[number]

export interface RealCatalog extends AsyncDisposable {
  readonly address: UpstreamAddress
}

interface Known {
  readonly needs: readonly Package[]
  readonly kind: UpstreamAddress['kind']
  readonly version: string
  readonly start: () => Promise<{ readonly url: string } & AsyncDisposable>
}

const versionOf = (pin: keyof typeof maven) => maven[pin].coordinates[0].split(':')[2] as string

const known: Readonly<Record<RealCatalogName, Known>> = {
  nessie: {
    needs: ['python:java', 'python:moto', 'maven:nessie'],
    kind: 'beta',
    version: versionOf('nessie'),
    start: () => startNessie(),
  },
  'rest-fixture': {
    needs: ['python:java', 'maven:iceberg-rest'],
    kind: 'alpha',
    version: versionOf('iceberg-rest'),
    start: startRestFixture,
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
 * @throws CannotFetch with the reason when it cannot be fetched
 */
export async function startRealCatalog(name: RealCatalogName): Promise<RealCatalog> {
  const { needs, kind, start } = known[name]
  for (const one of needs) await fetchPackage(one, AbortSignal.timeout(fetchSeconds * 1_000))
  const server = await start()
  return {
    address: {
      kind,
      endpoint: server.url,
      warehouse: 'warehouse',
      credential: undefined,
      tokenUrl: undefined,
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
