/** `covenant admin`: administration from the command line. The commands are in commands.ts. */

import type { Config } from '../config.ts'
import type { Store } from '../store/store.ts'
import { runCall } from './call.ts'
import type { Terminal } from './terminal.ts'

/** @returns the exit status */
export function admin(words: readonly string[], terminal: Terminal): Promise<number> {
  return runCall(words, terminal, openStore)
}

/** Loads what opens a store only where one is opened, and neither metrics nor logger, which no call reads. */
async function openStore(config: Config): Promise<Store> {
  const { openConfiguredStore } = await import('../open-store.ts')
  return await openConfiguredStore(
    config,
    { cypherQuerySeconds: { observe: () => {} } },
    { warn: () => {} },
    'command',
  )
}
