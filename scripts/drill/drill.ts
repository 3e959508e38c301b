/**
 * Rehearses the loss of the database: a base backup and an archive of the write-ahead log are all that is left, and the
 * store is restored to a point in time, started and compared with the catalog. Each step is timed.
 */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { runCovenant } from '../../src/admin/verbs.ts'
import { openPackages, type Packages, run, startPostmaster } from '../postgres-packages.ts'
import { serviceSettings, startLoad, startService } from './load.ts'

export interface DrillReport {
  readonly commits: number
  /** Answered before the point in time, of which none may be missing. */
  readonly answeredBefore: number
  readonly missing: readonly string[]
  /** Answered after it, which the restored store cannot have. */
  readonly answeredAfter: number
  readonly found: { readonly before: number; readonly after: number }
  /** Bytes. */
  readonly backupBytes: number
  readonly archiveBytes: number
  /** Seconds of each step. */
  readonly seconds: Readonly<Record<'fill' | 'backup' | 'copy' | 'replay' | 'start' | 'compare', number>>
  /** Copy to compare: what the hour of docs/reference/limits.md is for. */
  readonly recoverySeconds: number
  /** From the last archived segment to the loss: what a restore to the end of the archive would lack. */
  readonly lagSeconds: number
  /** What `covenant compare` printed, and its exit status. */
  readonly compared: { readonly status: number | undefined; readonly lines: readonly string[] }
}

const settings = {
  max_connections: 100,
  wal_level: 'replica',
  archive_mode: 'on',
  // As docs/worst-hour.md advises for pgBackRest: no commit waits longer for the archive.
  archive_timeout: 60,
} as const

/** A service that is not ready by then has failed to start. */
const readyMs = 120_000

/** @throws NoServer where this machine has no PostgreSQL to rehearse with */
export async function drill(commits: number, tell: (text: string) => void = () => {}): Promise<DrillReport> {
  const packages = await openPackages()
  const started: Bun.Subprocess[] = []
  try {
    return await rehearse(packages, commits, started, tell)
  } finally {
    for (const server of started) server.kill('SIGKILL')
    await Promise.all(started.map((server) => server.exited))
    packages.remove()
  }
}

async function rehearse(
  packages: Packages,
  commits: number,
  started: Bun.Subprocess[],
  tell: (text: string) => void,
): Promise<DrillReport> {
  const { command, inside, folder } = packages
  const seconds: Record<string, number> = {}
  const time = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    tell(`${step} …`)
    const startMs = performance.now()
    const result = await work()
    seconds[step] = Math.round(performance.now() - startMs) / 1_000
    return result
  }
  const password = crypto.randomUUID()
  packages.write('password', password)
  await run([...command('/bin/mkdir'), `${inside}/archive`])
  const initdb = [
    '--auth=scram-sha-256',
    `--pwfile=${inside}/password`,
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ]
  await run([...command('initdb'), '-U', 'postgres', '-D', `${inside}/data`, ...initdb])
  const archive = `test ! -f ${inside}/archive/%f && cp %p ${inside}/archive/%f`
  const server = await startPostmaster(packages, 'data', { ...settings, archive_command: archive })
  started.push(server.process)
  const urlOf = (port: number) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const key = crypto.getRandomValues(new Uint8Array(32))
  await using load = await startLoad(urlOf(server.port), key)

  await time('fill', async () => await load.commitUntil(Math.floor(commits / 2)))
  await time('backup', async () => {
    const env = { PGPASSWORD: password }
    const from = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres']
    const how = ['-D', `${inside}/base`, '-X', 'none', '-c', 'fast', '--no-manifest']
    await run([...command('pg_basebackup'), ...from, ...how], env)
  })
  await load.commitUntil(Math.floor(commits * 0.9))
  // The next millisecond: times of answers are cut to theirs, and a commit late in this one must be before it.
  const target = Date.now() + 1
  await load.commitUntil(commits)
  await archived(urlOf(server.port))
  await load.stop()

  // The loss: the server and its data are gone.
  const lostMs = Date.now()
  server.process.kill('SIGKILL')
  await server.process.exited
  const { lagSeconds, archiveBytes } = archiveState(join(folder, 'archive'), lostMs)
  const backupBytes = sizeOf(join(folder, 'base'))

  await time('copy', async () => {
    await run([...command('/bin/cp'), '-a', `${inside}/base`, `${inside}/restored`])
    packages.write('restored/recovery.signal', '')
  })
  const restored = await time('replay', async () => {
    const again = await startPostmaster(packages, 'restored', {
      ...settings,
      archive_mode: 'off',
      restore_command: `cp ${inside}/archive/%f %p`,
      recovery_target_time: new Date(target).toISOString().replace('Z', '+00'),
      recovery_target_action: 'promote',
    })
    started.push(again.process)
    await promoted(urlOf(again.port))
    return again
  })
  const url = urlOf(restored.port)
  const found = await time('start', async () => {
    const service = await startService(url, key)
    try {
      await ready(new URL('/readyz', service.app.url))
      return await auditedRequests(url)
    } finally {
      await service.stop()
    }
  })
  const lines: string[] = []
  const status = await time('compare', async () => {
    const print = (text: string) => void lines.push(...text.split('\n'))
    const env = serviceSettings(url, key)
    return await runCovenant(['compare'], { env, print, complain: print, stdin: async () => '' })
  })
  const before = [...load.answered].filter(([, at]) => at < target).map(([id]) => id)
  const { copy = 0, replay = 0, start = 0, compare = 0 } = seconds
  return {
    commits,
    answeredBefore: before.length,
    missing: before.filter((id) => !found.has(id)),
    answeredAfter: load.answered.size - before.length,
    found: {
      before: before.filter((id) => found.has(id)).length,
      after: found.size - before.filter((id) => found.has(id)).length,
    },
    backupBytes,
    archiveBytes,
    seconds: seconds as DrillReport['seconds'],
    recoverySeconds: Math.round((copy + replay + start + compare) * 1_000) / 1_000,
    lagSeconds,
    compared: { status, lines },
  }
}

async function withSql<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Waits until the service is ready, as a load balancer does: parts of it start beside its listener. */
async function ready(probe: URL): Promise<void> {
  const untilMs = performance.now() + readyMs
  for (;;) {
    const answer = await fetch(probe)
    const text = await answer.text()
    if (answer.status === 200) return
    if (performance.now() > untilMs) throw new Error(`the restored service is not ready: ${text}`)
    await Bun.sleep(50)
  }
}

/** Waits until all that was written is in the archive. */
async function archived(url: string): Promise<void> {
  await withSql(url, async (sql) => {
    const [row] = await sql`select pg_walfile_name(pg_switch_wal()) as name`
    for (;;) {
      const [state] =
        await sql`select coalesce(last_archived_wal, '') >= ${row?.name ?? ''} as is_there from pg_stat_archiver`
      if (state?.is_there === true) return
      await Bun.sleep(50)
    }
  })
}

/** Waits until the restored server takes writes. */
async function promoted(url: string): Promise<void> {
  await withSql(url, async (sql) => {
    for (;;) {
      const [state] = await sql`select pg_is_in_recovery() as recovering`
      if (state?.recovering === false) return
      await Bun.sleep(50)
    }
  })
}

async function auditedRequests(url: string): Promise<ReadonlySet<string>> {
  const rows = await withSql(
    url,
    (sql) =>
      sql<{ request_id: string }[]>`select request_id from svc.audit_log where request_id like 'drill-%'`,
  )
  return new Set(rows.map(({ request_id: id }) => id))
}

function archiveState(folder: string, lostMs: number) {
  const files = readdirSync(folder).map((file) => statSync(join(folder, file)))
  const last = Math.max(...files.map(({ mtimeMs }) => mtimeMs))
  const archiveBytes = files.reduce((sum, { size }) => sum + size, 0)
  return { archiveBytes, lagSeconds: Math.round(lostMs - last) / 1_000 }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
