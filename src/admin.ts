/** `bun run admin`: administration from the command line. The commands are in admin/commands.ts. */

import { parseCommand, UsageError, usageText } from './admin/command.ts'
import { commands } from './admin/commands.ts'
import { Fault } from './base/fault.ts'
import { ConfigError, parseConfig } from './config.ts'
import { openConfiguredStore } from './open-store.ts'
import { createLogger } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'

const words = process.argv.slice(2)
const exitUsage = 64
const exitConfig = 78

async function main(): Promise<void> {
  if (words.length === 0 || words.includes('--help') || words[0] === 'help') {
    console.log(usageText(commands))
    return
  }
  const { command, flags } = parseCommand(words, commands)
  const config = parseConfig(process.env)
  const store = await openConfiguredStore(config, createMetrics(), createLogger({ level: 'error' }))
  try {
    const result = await command.run(flags, store)
    if (result !== undefined)
      console.log(typeof result === 'string' ? result : JSON.stringify(result, undefined, 2))
  } finally {
    await store.close()
  }
}

await main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    console.error(`${error.message}\nSee: bun run admin --help`)
    process.exit(exitUsage)
  }
  if (error instanceof ConfigError) {
    console.error(error.message)
    process.exit(exitConfig)
  }
  console.error(error instanceof Fault ? error.publicMessage : error instanceof Error ? error.message : error)
  process.exit(1)
})
