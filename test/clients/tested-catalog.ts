/**
 * The catalog behind the gateway in suites that run on any: that of `test:clients --catalog-url`, else Iceberg's REST
 * fixture. A gate stands before it, unless its requests are signed for its own host.
 */

import { type Gate, openGate } from './gate.ts'
import type { Gateway, Upstream } from './gateway.ts'
import type { Target } from './iceberg-api.ts'
import { startRestFixture } from './servers.ts'

export interface TestedCatalog extends AsyncDisposable {
  /** What the gateway registers. */
  readonly upstream: Upstream
  readonly gate: Gate
  /** Where its data files lie; undefined where a test cannot look. */
  readonly folder: string | undefined
  /** The catalog itself where it is open to everybody, else the gateway before it. */
  target(gateway: Gateway): Target
}

/** Takes the catalog of SVC_TEST_CATALOG, an `Upstream` in JSON, or starts the fixture. */
export async function startTestedCatalog(): Promise<TestedCatalog> {
  const named = process.env.SVC_TEST_CATALOG
  return named === undefined ? await startFixture() : namedCatalog(JSON.parse(named) as Upstream)
}

async function startFixture(): Promise<TestedCatalog> {
  const fixture = await startRestFixture()
  const gate = openGate(fixture.url)
  return {
    upstream: { kind: 'alpha', url: gate.url, config: { warehouse: 'w' } },
    gate,
    folder: fixture.folder,
    target: () => ({ base: `${fixture.url}/v1` }),
    async [Symbol.asyncDispose]() {
      await gate[Symbol.asyncDispose]()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

function namedCatalog(upstream: Upstream): TestedCatalog {
  const gate = openGate(upstream.url)
  // A signature holds for the host that it names, so that of a gate would be refused.
  const isSigned = String(upstream.config?.['rest.sigv4-enabled'] ?? false) === 'true'
  return {
    upstream: isSigned ? upstream : { ...upstream, url: gate.url },
    gate,
    folder: undefined,
    target: ({ catalogUri, secret }) => ({
      base: `${catalogUri()}/v1`,
      headers: { 'x-svc-session': secret },
    }),
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  }
}
