/** Runs `bun run admin`, administration from the command line. The commands are in admin/commands.ts. */

import { runCall } from './admin/call.ts'
import { openConfiguredStore } from './open-store.ts'
import { createLogger } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'

const status = await runCall(process.argv.slice(2), {
  env: process.env,
  stdin: () => Bun.stdin.text(),
  openStore: (config) => openConfiguredStore(config, createMetrics(), createLogger({ level: 'error' })),
  print: (text) => console.log(text),
  complain: (text) => console.error(text),
})
process.exit(status)
