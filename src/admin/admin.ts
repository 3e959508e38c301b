/** `covenant admin`: administration from the command line. The commands are in commands.ts. */

import { openConfiguredStore } from '../open-store.ts'
import { createLogger } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { runCall } from './call.ts'
import type { Terminal } from './terminal.ts'

/** @returns the exit status */
export function admin(words: readonly string[], terminal: Terminal): Promise<number> {
  return runCall(words, terminal, (config) =>
    openConfiguredStore(config, createMetrics(), createLogger({ level: 'error' })),
  )
}
