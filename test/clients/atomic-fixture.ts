/** Iceberg's REST fixture behind the gateway, said to be atomic, for clients that commit several tables at once. */

import type { TableRef } from '../../src/core/table-ref.ts'
import { type Gate, openGate } from './gate.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { createTable, type Target } from './iceberg-api.ts'
import { startRestFixture } from './servers.ts'

export interface AtomicFixture extends AsyncDisposable {
  readonly gate: Gate
  readonly gateway: Gateway
  /** The fixture itself, past the gateway. */
  readonly direct: Target
  newTables(): Promise<readonly [TableRef, TableRef]>
  /** Paths of the commits that reached the catalog. */
  forwarded(): readonly string[]
}

export async function startAtomicFixture(): Promise<AtomicFixture> {
  const stack = new AsyncDisposableStack()
  const fixture = stack.use(await startRestFixture())
  const gate = stack.use(openGate(fixture.url))
  const direct = { base: `${fixture.url}/v1` }
  // The fixture writes table after table, which nobody races here.
  const config = { warehouse: 'w', atomic_transactions: true }
  const gateway = stack.use(await startGateway({ kind: 'alpha', url: gate.url, config }))
  let tables = 0
  return {
    gate,
    gateway,
    direct,
    async newTables() {
      const [first, second] = [`first_${++tables}`, `second_${tables}`]
      const both = [
        { namespace: ['sales'], name: first },
        { namespace: ['sales'], name: second },
      ] as const
      for (const table of both) await createTable(direct, table)
      return both
    },
    forwarded: () =>
      gate.passed
        .filter(({ method, path }) => method === 'POST' && path.endsWith('/commit'))
        .map(({ path }) => path),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
