/** Runs one call of the command line: takes its arguments, gives its output and exit status. */

import { type Config, parseConfig } from '../config.ts'
import type { Store } from '../store/store.ts'
import { helpText, prepareCall, printable } from './command.ts'
import { commands } from './commands.ts'
import { exitStatus, reportFailure } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

/** Opens the store that the settings name. */
export type OpenStore = (config: Config) => Promise<Store>

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
    return reportFailure(error, 'covenant admin', terminal)
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
  const { action, field } = await prepareCall(words, commands, stdin)
  const config = parseConfig(env)
  const store = await openStore(config)
  try {
    const output = printable(await action(store, config), field)
    if (output !== undefined) print(output)
  } finally {
    await store.close()
  }
}
