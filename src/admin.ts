/** `bun run admin`: administration from the command line. The commands are in admin/commands.ts. */

import { helpText, prepareCall, printable } from './admin/command.ts'
import { commands } from './admin/commands.ts'
import { UsageError } from './admin/flags.ts'
import { Fault } from './base/fault.ts'
import { ConfigError, parseConfig } from './config.ts'
import { openConfiguredStore } from './open-store.ts'
import { createLogger } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'

const exitFailed = 1
/** sysexits.h */
const exitUsage = 64
const exitConfig = 78

async function main(words: readonly string[]): Promise<void> {
  if (words.length === 0 || words.includes('--help') || words[0] === 'help') {
    console.log(helpText(words[0] === 'help' ? words.slice(1) : words, commands))
    return
  }
  const { action, field } = await prepareCall(words, commands)
  const config = parseConfig(process.env)
  const store = await openConfiguredStore(config, createMetrics(), createLogger({ level: 'error' }))
  try {
    const output = printable(await action(store), field)
    if (output !== undefined) console.log(output)
  } finally {
    await store.close()
  }
}

/** Prints what went wrong. @returns the exit status */
function report(error: unknown): number {
  if (error instanceof ConfigError) {
    console.error(`The configuration has ${error.problems.length} problem(s):\n${error.message}`)
    return exitConfig
  }
  if (error instanceof UsageError || (error instanceof Fault && error.kind === 'bad_request')) {
    console.error(`${error.message}\nSee: bun run admin --help`)
    return exitUsage
  }
  if (error instanceof Fault) console.error([error.publicMessage, error.detail].filter(Boolean).join('\n'))
  else console.error(error instanceof Error ? error.message : error)
  return exitFailed
}

await main(process.argv.slice(2)).catch((error: unknown) => process.exit(report(error)))
