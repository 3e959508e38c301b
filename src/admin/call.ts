/** Runs one call of the command line: takes its arguments, gives its output and exit status. */

import { Fault, tellOperator } from '../base/fault.ts'
import { type Config, ConfigError, parseConfig } from '../config.ts'
import type { Store } from '../store/store.ts'
import { helpText, prepareCall, printable } from './command.ts'
import { commands } from './commands.ts'
import { UsageError } from './flags.ts'

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: () => Promise<string>
  readonly openStore: (config: Config) => Promise<Store>
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

const exitFailed = 1
/** sysexits.h */
const exitUsage = 64
const exitConfig = 78

/**
 * Runs one call. It never throws.
 * @returns the exit status
 */
export async function runCall(words: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    await run(words, surroundings)
    return 0
  } catch (error) {
    return report(error, surroundings.complain)
  }
}

async function run(words: readonly string[], { env, stdin, openStore, print }: Surroundings): Promise<void> {
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

function report(error: unknown, complain: (text: string) => void): number {
  if (error instanceof ConfigError) {
    complain(`The configuration has ${error.problems.length} problem(s):\n${error.message}`)
    return exitConfig
  }
  if (error instanceof UsageError || (error instanceof Fault && error.kind === 'bad_request')) {
    complain(`${error.message}\nSee: bun run admin --help`)
    return exitUsage
  }
  complain(tellOperator(error))
  return exitFailed
}
