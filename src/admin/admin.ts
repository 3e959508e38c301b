/** `covenant admin`: administration from the command line. The commands are in commands.ts. */

import type { Config } from '../config.ts'
import type { Store } from '../store/store.ts'
import { runCall } from './call.ts'
import type { Terminal } from './terminal.ts'

/** @returns the exit status */
export function admin(words: readonly string[], terminal: Terminal): Promise<number> {
  return runCall(words, terminal, openStore)
}

/** Loads what opens a store only where one is opened. */
async function openStore(config: Config): Promise<Store> {
  const [{ openConfiguredStore }, { createMetrics }, { createLogger }] = await Promise.all([
    import('../open-store.ts'),
    import('../telemetry/metrics.ts'),
    import('../telemetry/log.ts'),
  ])
  return await openConfiguredStore(config, createMetrics(), createLogger({ level: 'error' }))
}
