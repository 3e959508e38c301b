/** The command `covenant`. Its verbs are in admin/verbs.ts. */

import { askOnTerminal } from './admin/ask-terminal.ts'
import { runCovenant } from './admin/verbs.ts'

const status = await runCovenant(process.argv.slice(2), {
  env: process.env,
  stdin: () => Bun.stdin.text(),
  print: (text) => console.log(text),
  complain: (text) => console.error(text),
  ...(process.stdin.isTTY && { ask: askOnTerminal }),
  interrupted: () => {
    const interruption = new AbortController()
    process.once('SIGINT', () => interruption.abort(new Error('interrupted')))
    return interruption.signal
  },
})
if (status !== undefined) process.exit(status)
