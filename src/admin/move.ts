/** `covenant move`: moves the embedded store to an empty PostgreSQL database, or gives such a move up. */

import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Fault } from '../base/fault.ts'
import { type Config, parseConfig } from '../config.ts'
import { parseDatabaseUrl } from '../config-values.ts'
import { acceptedSuffix } from '../gateway/base/accepted-journal.ts'
import { formerKeyFile, openConfiguredStore, secretsKeyOf } from '../open-store.ts'
import { isHeld } from '../store/database/embedded.ts'
import { moveMarkOf, removeMoveMark } from '../store/database/move-mark.ts'
import { type Moved, moveStore } from '../store/move/move-store.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant move --to URL [--from DIR]
       covenant move --give-up [--from DIR]

Copies the embedded store to an empty PostgreSQL database, compares counts and hashes of all tables, and leaves a mark
by which no service starts on the embedded data. Stop the service first. A move that was interrupted goes on where it
stopped when the same command is run again; until it has ended, no service starts on either side.

  --to URL    a postgres:// URL of an empty database, with Apache AGE; its user as for covenant migrate. PGPASSWORD is
              read where the URL has no password
  --from DIR  the data directory; default: SVC_DATA_DIR
  --give-up   removes the mark, so that a service starts on the embedded data again
  --help      prints this
${exitStatusHelp}`

/** @returns the exit status */
export async function move(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    const { to, from, 'give-up': givesUp = false } = readFlags(words)
    if (givesUp === (to !== undefined)) throw new UsageError('`move` takes --to or --give-up.')
    const { SVC_DATABASE_URL: _, ...env } = terminal.env
    const config = parseConfig({ ...env, ...(from !== undefined && { SVC_DATA_DIR: from }) })
    if (config.store.kind !== 'embedded') throw new Error('a store without SVC_DATABASE_URL is embedded')
    const dataDir = resolve(config.store.dataDir)
    if (!existsSync(join(dataDir, 'store', 'pg')))
      throw new Fault('misconfigured', `${dataDir} holds no embedded data: name their directory by --from.`)
    if (to === undefined) giveUp(join(dataDir, 'store'), terminal)
    else await moveTo(to, dataDir, config, terminal)
    return exitStatus.done
  } catch (error) {
    return reportFailure(hinted(error), 'covenant move', terminal)
  }
}

function readFlags(words: readonly string[]) {
  try {
    const options = {
      to: { type: 'string' },
      from: { type: 'string' },
      'give-up': { type: 'boolean' },
    } as const
    return parseArgs({ args: [...words], options }).values
  } catch {
    // Not quoted, because a word may hold a password.
    throw new UsageError('`move` takes --to URL, --from DIR and --give-up only.')
  }
}

/** Adds to the refusal of a store that another process holds what to do. */
function hinted(thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.type !== 'StoreInUse') return thrown
  return new Fault(thrown.kind, `${thrown.publicMessage} Stop the service before a move.`)
}

function giveUp(dataDirectory: string, { print }: Terminal): void {
  const mark = moveMarkOf(dataDirectory)
  if (mark === undefined) throw new Fault('misconfigured', `No move of ${dataDirectory} has begun.`)
  if (isHeld(dataDirectory))
    throw new Fault('misconfigured', `${dataDirectory} is in use by another process.`)
  removeMoveMark(dataDirectory)
  print(
    mark.state === 'moved'
      ? `A service starts on the embedded data again, as they were at ${mark.at}. What was written to ${mark.to} since is not in them: let no service run on both.`
      : `The move to ${mark.to} is given up. Drop that database; it is not whole.`,
  )
}

async function moveTo(to: string, dataDir: string, config: Config, terminal: Terminal): Promise<void> {
  const { print, complain } = terminal
  const databaseUrl = parseDatabaseUrl(to.trim())
  if (databaseUrl === undefined)
    throw new UsageError('--to must be a postgres:// URL, with # / % and their like percent-encoded')
  const dataDirectory = join(dataDir, 'store')
  assertOneKey(config, dataDir)
  assertJournalEmpty(config.journalDir)
  if (moveMarkOf(dataDirectory) === undefined) {
    // As a service would: it migrates the embedded data, and tries their keys.
    const unmeasured = { cypherQuerySeconds: { observe: () => {} } }
    await (await openConfiguredStore(config, unmeasured, { warn: () => {} }, 'look')).close()
  }
  const secretsKey = config.store.secretsKey?.reveal() ?? (await secretsKeyOf(dataDir, false))
  const moved = await moveStore({ dataDirectory, databaseUrl, secretsKey, progress: complain })
  for (const line of report(moved, dataDir, config.store.secretsKey !== undefined)) print(line)
}

/** What is said at the end names one key, which must open all that was moved. */
function assertOneKey({ store }: Config, dataDir: string): void {
  const former = formerKeyFile(dataDir)
  if (store.formerKey !== undefined) throw stillTurns('SVC_SECRETS_KEY_FORMER is set.')
  if (store.nextKey !== undefined) throw stillTurns('SVC_SECRETS_KEY_NEXT is set.')
  if (existsSync(former)) throw stillTurns(`${former} is there.`)
}

function stillTurns(why: string): Fault {
  return new Fault(
    'misconfigured',
    `${why} A move takes one secrets key: start the service on the embedded data until its log says that the former key may be removed, stop it, leave one key, and move then.`,
  )
}

/** Changes of which the audit is not written yet are in the journal, and only a service can write it. */
function assertJournalEmpty(journalDir: string | undefined): void {
  if (journalDir === undefined || !existsSync(journalDir)) return
  const files = readdirSync(journalDir).filter((name) => name.endsWith(acceptedSuffix))
  if (files.length > 0)
    throw new Fault(
      'misconfigured',
      `The journal ${journalDir} holds ${files.length} changes without an audit: start the service until svc_unaudited_changes is 0, and stop it.`,
    )
}

function* report({ to, tables, emptyCount, tenantCount }: Moved, dataDir: string, hasKey: boolean) {
  if (tables.length === 0) {
    yield `The data were moved to ${to} before.`
  } else {
    const width = Math.max(...tables.map(({ table }) => table.length))
    for (const { table, rows, hash } of tables)
      yield `${table.padEnd(width)}  ${String(rows).padStart(10)}  ${hash}`
    const rows = tables.reduce((sum, { rows }) => sum + rows, 0)
    yield `${tables.length} tables with ${rows} rows of ${tenantCount} tenants are the same on both sides, by count and hash; ${emptyCount} more are empty.`
  }
  const key = hasKey
    ? 'the SVC_SECRETS_KEY of before'
    : `SVC_SECRETS_KEY="$(base64 < ${join(dataDir, 'secrets.key')})"`
  yield `Start the service with SVC_DATABASE_URL set to that database, and ${key}.`
}
