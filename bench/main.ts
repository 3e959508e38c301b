/** Starts the command `bun run bench`. */

import { benchCommand } from './command.ts'

process.exit(await benchCommand(process.argv.slice(2), { out: console.log, err: console.error }))
