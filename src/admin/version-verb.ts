/** `covenant version`: the version, and with `--check-upgrade` whether the store can be upgraded to it. It changes nothing. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { Fault } from '../base/fault.ts'
import { type Config, parseConfig } from '../config.ts'
import { limits } from '../limits.ts'
import { onDatabase } from '../open-store.ts'
import { embeddedBackend } from '../store/database/embedded.ts'
import { migrationStatus } from '../store/database/migrations.ts'
import { readReleases, releaseWithout } from '../store/database/released-migrations.ts'
import { toStoreFault } from '../store/database/store-fault.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant version [--check-upgrade [--json]]

Shows the version.

  --check-upgrade  compares the store that the environment names with this version: of which release it is, which
                   migrations a start or covenant migrate would apply, and whether it can be upgraded at all. It changes
                   nothing. The embedded store is looked at while no service runs. What to read is in docs/upgrading.md,
                   and covenant check tries the settings
  --json           the same as JSON
  --help           prints this

${exitStatusHelp}`

type Status = Awaited<ReturnType<typeof migrationStatus>>

/** What an upgrade would do. */
interface Upgrade {
  readonly version: string
  readonly store: Config['store']['kind']
  /** Absent where the store is empty, or older than the first release. */
  readonly as_of?: string
  readonly empty: boolean
  readonly pending: {
    readonly control: readonly string[]
    readonly tenant: readonly string[]
    /** Tenants that lack at least one. */
    readonly tenants: number
  }
}

/** @returns the exit status */
export async function showVersion(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    const unknown = words.some((word) => word !== '--check-upgrade' && word !== '--json')
    if (unknown || (words.includes('--json') && !words.includes('--check-upgrade')))
      throw new UsageError('`version` takes `--check-upgrade`, and `--json` with it.')
    if (words.length === 0) terminal.print(`covenant ${version}`)
    else {
      const upgrade = await lookAt(parseConfig(terminal.env))
      terminal.print(words.includes('--json') ? JSON.stringify(upgrade, undefined, 2) : textOf(upgrade))
    }
    return exitStatus.done
  } catch (error) {
    return reportFailure(error, 'covenant version', terminal)
  }
}

async function lookAt({ store }: Config): Promise<Upgrade> {
  const status =
    store.kind === 'postgres'
      ? await onDatabase(store.databaseUrl.reveal(), (sql) => migrationStatus(sql))
      : await statusOfDirectory(join(store.dataDir, 'store'))
  const tenants = status.filter(({ scope, pending }) => scope !== 'control' && pending.length > 0)
  const pending = {
    control: status.flatMap(({ scope, pending: names }) => (scope === 'control' ? names : [])),
    tenant: [...new Set(tenants.flatMap(({ pending: names }) => names))].toSorted(),
    tenants: tenants.length,
  }
  const empty = status.every(({ applied }) => applied === 0)
  const asOf = empty ? undefined : releaseWithout(readReleases(), pending)
  return { version, store: store.kind, ...(asOf !== undefined && { as_of: asOf }), empty, pending }
}

async function statusOfDirectory(dataDirectory: string): Promise<Status> {
  // A start makes one; a look does not.
  if (!existsSync(join(dataDirectory, 'pg'))) return [{ scope: 'control', applied: 0, pending: [] }]
  const backend = await embeddedBackend({ dataDirectory, statementMs: limits.storeStatementMs }).catch(
    (thrown) => {
      if (!(thrown instanceof Fault) || thrown.type !== 'StoreInUse') throw thrown
      throw new Fault('unavailable', 'A service has the embedded store open. Stop it, and look again.')
    },
  )
  try {
    const link = await backend.open('connecting')
    try {
      return await migrationStatus(link.sql)
    } finally {
      await link.close()
    }
  } catch (thrown) {
    throw toStoreFault(thrown)
  } finally {
    await backend.close()
  }
}

function textOf({ as_of: asOf, empty, pending, store }: Upgrade): string {
  const head = `covenant ${version}`
  if (empty) return `${head}\nThe store is empty. A start makes it.`
  const is = asOf === undefined ? 'The store is older than the first release.' : `The store is of ${asOf}.`
  if (pending.control.length + pending.tenant.length === 0) return `${head}\n${is} Nothing is pending.`
  return [
    ...[head, is],
    `control: ${pending.control.length} pending ${pending.control.join(' ')}`.trimEnd(),
    ...(pending.tenants === 0
      ? []
      : [`${pending.tenants} tenant(s): ${pending.tenant.length} pending ${pending.tenant.join(' ')}`]),
    `It can be upgraded. There is no way back but a backup: ${
      store === 'postgres' ? 'make one' : 'stop the service and copy SVC_DATA_DIR'
    } first, and read docs/upgrading.md.`,
  ].join('\n')
}
