/** The command `npm run drill`: rehearses a restore of the database and prints a timed report. */

import { parseArgs } from 'node:util'
import { NoServer } from '../postgres-packages.ts'
import { drill } from './drill.ts'

const help = `Usage: npm run drill -- [--commits N]

Rehearses the loss of the database: commits through a service on PostgreSQL with a base backup and an archive of the
write-ahead log, loses the server, restores to a point in time, starts the service and compares it with the catalog.
Prints a report as JSON. It needs Linux, root and debootstrap, as \`npm run test:db\` does.

  --commits N  audited commits, 100 or more; default 2000
Exit status: 0 nothing that was answered is missing, 1 something is or it failed, 64 wrong usage.`

async function main(): Promise<number> {
  let commits: number
  try {
    const { values } = parseArgs({
      options: { commits: { type: 'string', default: '2000' }, help: { type: 'boolean', default: false } },
    })
    if (values.help) {
      console.log(help)
      return 0
    }
    commits = Number(values.commits)
    if (!Number.isSafeInteger(commits) || commits < 100) throw new Error('--commits')
  } catch {
    console.error(help)
    return 64
  }
  try {
    const report = await drill(commits, (text) => console.error(text))
    console.log(JSON.stringify(report, undefined, 2))
    return report.missing.length === 0 ? 0 : 1
  } catch (error) {
    if (!(error instanceof NoServer)) throw error
    console.error(`The drill cannot run here: ${error.message}.`)
    return 1
  }
}

process.exit(await main())
