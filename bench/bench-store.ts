/** Opens an empty store of the measured kind, and describes it for the results. */

import type { Store } from '../src/store/store.ts'
import { openTestStore } from '../test/support/store.ts'
import type { BenchStore } from './entry.ts'

/** The service's own default (SVC_POOL_MAX). */
export const benchPoolMax = 10

export interface OpenBenchStore extends AsyncDisposable {
  readonly store: Store
  /** For the case. A server that does not flush is faster, but a power cut undoes what it acknowledged. */
  readonly engine: string
  /** Set when the store is on a server. */
  readonly databaseUrl: string | undefined
}

/** Opens an empty store. Disposal removes its data. */
export async function openBenchStore({ kind, databaseUrl }: BenchStore): Promise<OpenBenchStore> {
  const named = process.env.SVC_TEST_DATABASE_URL
  if (kind === 'postgres') process.env.SVC_TEST_DATABASE_URL = databaseUrl
  else delete process.env.SVC_TEST_DATABASE_URL
  try {
    const store = await openTestStore({ poolMax: benchPoolMax })
    return {
      store,
      engine: await engineName(store),
      databaseUrl: store.databaseUrl,
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    }
  } finally {
    if (named === undefined) delete process.env.SVC_TEST_DATABASE_URL
    else process.env.SVC_TEST_DATABASE_URL = named
  }
}

async function engineName(store: Store): Promise<string> {
  if (store.backend === 'embedded') return 'embedded'
  const [row] = await store.adminQuery<{ flushes: boolean }>(
    `select current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as flushes`,
  )
  return row?.flushes === true ? 'postgres' : 'postgres without fsync'
}
