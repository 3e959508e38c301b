/** Runs one call of `covenant admin`: takes its arguments, gives its output and exit status. */

import { parseConfig } from '../config.ts'
import { helpText, prepareCall, runPrepared } from './command.ts'
import { commands } from './commands.ts'
import { exitStatus, reportFailure } from './exit-status.ts'
import { serviceAddress } from './service-address.ts'
import { hintAtService, type OpenStore } from './store-in-use.ts'
import type { Terminal } from './terminal.ts'

/**
 * Runs one call. It never throws.
 * @returns the exit status
 */
export async function runCall(
  words: readonly string[],
  terminal: Terminal,
  openStore: OpenStore,
): Promise<number> {
  try {
    await run(words, terminal, openStore)
    return exitStatus.done
  } catch (error) {
    return reportFailure(hintAtService(error), 'covenant admin', terminal)
  }
}

async function run(
  words: readonly string[],
  { env, stdin, print }: Terminal,
  openStore: OpenStore,
): Promise<void> {
  if (words.length === 0 || words.includes('--help') || words[0] === 'help') {
    print(helpText(words[0] === 'help' ? words.slice(1) : words, commands))
    return
  }
  const call = await prepareCall(words, commands, stdin, Boolean(env.COVENANT_URL || env.COVENANT_PROFILE))
  const service = await serviceAddress(call, env, true)
  // Where a service is named, the store's settings are not even read. Modules are loaded where they are used, because
  // a call should take less than half a second.
  const client =
    service === undefined
      ? await (await import('./store-client.ts')).openStoreClient(parseConfig(env), openStore)
      : (await import('./http-client.ts')).openHttpClient(service)
  try {
    await runPrepared(call, client, print)
  } finally {
    await client.close()
  }
}
