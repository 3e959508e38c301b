/** `covenant check`: checks the settings and the license in the environment. It opens no store and no port. */

import { parseConfig } from '../config.ts'
import { readInstalledLicense } from '../license/installed-license.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant check

Checks the settings in the environment, and the license that they name, as a start does. It opens no store and no port.
${exitStatusHelp}`

/** @returns the exit status */
export async function check(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    if (words.length > 0) throw new UsageError('`check` takes no words.')
    const { license, demo, store } = parseConfig(terminal.env)
    await readInstalledLicense(license, demo)
    terminal.print(
      `The settings are valid. The store is ${store.kind === 'postgres' ? 'PostgreSQL' : 'embedded'}.`,
    )
    return exitStatus.done
  } catch (error) {
    return reportFailure(error, 'covenant check', terminal)
  }
}
