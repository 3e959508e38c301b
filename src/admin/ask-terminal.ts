/** Asks a question on the terminal of the process. It is for `main` alone; verbs take it from their `Terminal`. */

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Prints the question on standard error and gives the line that is typed; undefined where input ends first. */
export async function askOnTerminal(
  question: string,
  { isHidden = false }: { readonly isHidden?: boolean } = {},
): Promise<string | undefined> {
  process.stderr.write(question)
  // What readline echoes goes nowhere where it must not be seen.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    ...{ input: process.stdin, terminal: true, historySize: 0 },
    output: isHidden ? nowhere : process.stderr,
  })
  const line = await new Promise<string | undefined>((resolve) => {
    lines.once('line', resolve)
    lines.once('close', () => resolve(undefined))
    lines.once('SIGINT', () => lines.close())
  })
  lines.close()
  if (isHidden || line === undefined) process.stderr.write('\n')
  return line
}
