/**
 * Moves the embedded store to an empty database of a server: whole, compared by hash, and from where it stopped if it
 * was interrupted. Nothing of the embedded data is changed but the mark beside them, so a move can always begin once
 * more on another empty database. The command is in admin/move.ts.
 */

import type postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { parseTenantId } from '../../core/tenant.ts'
import { embeddedBackend } from '../database/embedded.ts'
import { type Link, postgresBackend } from '../database/link.ts'
import { migrationsChecksum } from '../database/migration-files.ts'
import { migrateFilling } from '../database/migrations.ts'
import { type MoveMark, moveMarkOf, writeMoveMark } from '../database/move-mark.ts'
import { graphName, schemaName } from '../database/names.ts'
import { assertOwnSessions } from '../database/pooler.ts'
import { toStoreFault } from '../database/store-fault.ts'
import { assertCurrent } from './assert-source.ts'
import { assertEmpty, assertUnused, holdTarget } from './assert-target.ts'
import { type ComparedTable, compareSequences, compareShapes, compareTable } from './compare-sides.ts'
import { asOwner, copyTable } from './copy-table.ts'
import {
  beginJournal,
  copiedText,
  endJournal,
  type MovePhase,
  phaseText,
  readCopied,
  readJournal,
} from './journal.ts'
import { addKeyStatements, assertAllTables, monthStatements } from './partitions.ts'
import {
  type MovedTable,
  readForeignKeys,
  readSequences,
  readTables,
  sameTexts,
  setSequences,
} from './relations.ts'

export interface MoveOptions {
  /** That of the embedded store, with the folder `pg` in it. */
  readonly dataDirectory: string
  /** Of the database that is filled. */
  readonly databaseUrl: string
  /** That of the embedded data; a database that was filled under another one is refused. */
  readonly secretsKey: Uint8Array
  /** Bytes of rows that one transaction copies. */
  readonly batchBytes?: number
  /** Receives a line when something has been done. */
  readonly progress: (line: string) => void
  /** Called after each step, whose effect is durable by then. */
  readonly onStep?: (step: string) => void | Promise<void>
}

export interface Moved {
  /** Host, port and name of the database. */
  readonly to: string
  /** Tables that hold rows. Empty where the move had ended before. */
  readonly tables: readonly ComparedTable[]
  /** Tables that are empty on both sides. */
  readonly emptyCount: number
  readonly tenantCount: number
}

/** Both sides of a move while it runs. */
interface Sides extends MoveOptions {
  readonly from: postgres.Sql
  readonly target: postgres.Sql
  readonly schemas: readonly string[]
  readonly step: (name: string) => Promise<void>
}

/** Longer than any statement of a connection's start. */
const statementMs = 60_000

/** Host, port and name of the database of a URL. */
function nameOfDatabase(databaseUrl: string): string {
  const { hostname, port, pathname } = new URL(databaseUrl)
  return `${hostname}:${port || 5432}${pathname}`
}

/**
 * Moves it, or goes on with a move that was interrupted.
 * @throws Fault `misconfigured` where a service has the embedded data or the database open, the database is not empty
 * or belongs to another move or key; `internal` where the two sides differ; `unavailable` where a server does not answer
 */
export async function moveStore(options: MoveOptions): Promise<Moved> {
  const { dataDirectory, databaseUrl } = options
  const embedded = await embeddedBackend({ dataDirectory, statementMs, mayBeMoved: true })
  try {
    const server = postgresBackend({ databaseUrl, poolMax: 2, statementMs, onNotification: () => {} })
    const link = await server.open('connecting')
    try {
      await assertOwnSessions(() => server.open('connecting'), statementMs)
      const source = await embedded.open('connecting')
      try {
        return await moveBetween(options, source, link)
      } finally {
        await source.close()
      }
    } finally {
      await link.discard()
    }
  } catch (error) {
    throw toStoreFault(error)
  } finally {
    await embedded.close()
  }
}

async function moveBetween(options: MoveOptions, { sql: from }: Link, { sql: target }: Link): Promise<Moved> {
  const { dataDirectory, databaseUrl, onStep = () => {} } = options
  await from.unsafe(sameTexts).simple()
  await target.unsafe(sameTexts).simple()
  const to = nameOfDatabase(databaseUrl)
  await holdTarget(target)
  await assertUnused(target)
  const tenants = await from<{ tenant_id: string }[]>`select tenant_id::text from svc.tenant order by 1`
  const schemas = [
    ...['svc', 'svc_health'],
    ...tenants.flatMap(({ tenant_id }) => {
      const id = parseTenantId(tenant_id)
      return id === undefined ? [] : [schemaName(id), graphName(id)]
    }),
  ]
  const sides: Sides = { ...options, from, target, schemas, step: async (name) => await onStep(name) }
  const found = moveMarkOf(dataDirectory)
  const begun = (await hasJournal(target)) ? await readJournal(target) : undefined
  if (begun !== undefined && begun.id !== found?.id)
    throw new Fault(
      'misconfigured',
      `${to} is being filled by the move of other data: use an empty database.`,
    )
  if (begun === undefined && found?.state === 'moved') {
    if (found.to === to) return { to, tables: [], emptyCount: 0, tenantCount: tenants.length }
    throw new Fault(
      'misconfigured',
      `The data were moved to ${found.to} at ${found.at}: to move them once more, run \`covenant move --give-up\` first.`,
    )
  }
  const mark: MoveMark = {
    id: begun?.id ?? crypto.randomUUID(),
    state: 'moving',
    to,
    at: new Date().toISOString(),
  }
  if (begun !== undefined && begun.migrations !== migrationsChecksum())
    throw new Fault(
      'misconfigured',
      `The move to ${to} was begun by another version of covenant: go on with that one; or run \`covenant move --give-up\`, and then the move to an empty database.`,
    )
  await assertCurrent(from)
  if (begun === undefined) {
    await assertEmpty(target, options.secretsKey)
    writeMoveMark(dataDirectory, mark)
    await sides.step('mark')
    await beginJournal(target, { id: mark.id, migrations: migrationsChecksum() })
    await sides.step('journal')
  }
  const tables = await runPhases(sides, begun?.phase ?? 'schema')
  writeMoveMark(dataDirectory, { ...mark, state: 'moved', at: new Date().toISOString() })
  await sides.step('moved')
  await endJournal(target)
  await sides.step('free')
  return { to, ...tables, tenantCount: tenants.length }
}

async function hasJournal(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<{ there: boolean }[]>`
    select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'svc_move' and c.relname = 'copied') as there`
  return row?.there === true
}

async function runPhases(sides: Sides, phase: MovePhase): Promise<Pick<Moved, 'tables' | 'emptyCount'>> {
  const { progress } = sides
  if (phase === 'schema') {
    progress('Making the tables and graphs of the database.')
    await makeTables(sides)
  }
  const source = await tablesOf(sides)
  if (phase !== 'check') {
    await compareShapes(sides.from, sides.target, sides.schemas, 'before')
    await copyRows(sides, source)
    progress('Copying sequences, and adding the foreign keys.')
    await finishTables(sides)
  }
  progress('Comparing counts and hashes.')
  return await compareSides(sides, source)
}

/** Makes the control schema, the tenants with their graphs, and the months of history; the foreign keys come later. */
async function makeTables({ from, target, schemas, progress, step }: Sides): Promise<void> {
  await migrateFilling(target, 'apply', progress)
  await step('control schema')
  const [tenants] = (await readTables(from, ['svc'])).filter(({ name }) => name === 'tenant')
  const [there] = (await readTables(target, ['svc'])).filter(({ name }) => name === 'tenant')
  if (tenants === undefined || there === undefined)
    throw new Fault('internal', 'Internal error.', { detail: 'svc.tenant is missing' })
  // By it the migrations find for whom they make a schema and a graph. Other tables refer to it, so it is not emptied.
  if (!(await readCopied(target)).has(tenants.sqlName))
    await copyTable(
      [from, { ...tenants, bytes: 0 }],
      [target, { ...there, blocks: 0 }],
      0,
      (page) => copiedText(tenants.sqlName, page),
      async () => {},
    )
  await step('tenants')
  await migrateFilling(target, 'apply', progress)
  await step('tenant schemas')
  const keys = await readForeignKeys(target, schemas)
  const months = await monthStatements(from, target)
  await asOwner(target, async () => {
    for (const { table, name } of keys)
      await target.unsafe(`alter table ${table} drop constraint ${name}`).simple()
    for (const text of months) await target.unsafe(text).simple()
    await target.unsafe(`set local role none; ${phaseText('copy')}`).simple()
  })
  await step('months')
}

/** The tables of both sides, in a stable order. @throws Fault `misconfigured` where the target lacks one */
async function tablesOf({
  from,
  target,
  schemas,
}: Sides): Promise<readonly (readonly [MovedTable, MovedTable])[]> {
  const here = await readTables(from, schemas)
  const there = new Map((await readTables(target, schemas)).map((table) => [table.sqlName, table]))
  assertAllTables(
    here.map(({ sqlName }) => sqlName),
    new Set(there.keys()),
  )
  return here.flatMap((table) => {
    const other = there.get(table.sqlName)
    return other === undefined ? [] : [[table, other] as const]
  })
}

async function copyRows(
  { from, target, progress, step, batchBytes }: Sides,
  tables: readonly (readonly [MovedTable, MovedTable])[],
): Promise<void> {
  const copied = await readCopied(target)
  const all = tables.reduce((sum, [{ bytes }]) => sum + bytes, 0)
  let done = 0
  let told = 0
  for (const [source, there] of tables) {
    const first = copied.get(source.sqlName) ?? 0
    const isWhole = copied.has(source.sqlName) && first >= source.blocks
    // What is empty on both sides is copied.
    if (!isWhole && (source.blocks > 0 || there.blocks > 0))
      await copyTable(
        [from, source],
        [target, there],
        first,
        (page) => copiedText(source.sqlName, page),
        async (page) => {
          const percent = Math.floor(
            (100 * (done + (source.bytes * page) / Math.max(1, source.blocks))) / all,
          )
          if (percent >= told + progressPercent) progress(`Copied ${percent} %, now in ${source.sqlName}.`)
          if (percent >= told + progressPercent) told = percent
          await step(`${source.sqlName} to page ${page}`)
        },
        batchBytes,
      )
    done += source.bytes
  }
}

const progressPercent = 5

async function finishTables({ from, target, schemas, step }: Sides): Promise<void> {
  const states = await readSequences(from, schemas)
  await asOwner(target, () => setSequences(target, states))
  await step('sequences')
  const there = new Set((await readForeignKeys(target, schemas)).map(({ table, name }) => `${table} ${name}`))
  const forced = await forcedTables(from)
  const missing = (await readForeignKeys(from, schemas)).filter(
    ({ table, name }) => !there.has(`${table} ${name}`),
  )
  await asOwner(target, async () => {
    for (const key of missing)
      for (const text of addKeyStatements(key, forced)) await target.unsafe(text).simple()
    await target.unsafe(`set local role none; ${phaseText('check')}`).simple()
  })
  await step('foreign keys')
}

/** The tables of which a policy binds the owner too, as the server writes their names. */
async function forcedTables(sql: postgres.Sql): Promise<ReadonlySet<string>> {
  const rows = await sql<
    { name: string }[]
  >`select oid::regclass::text as name from pg_class where relforcerowsecurity`
  return new Set(rows.map(({ name }) => name))
}

async function compareSides(
  { from, target, schemas, step }: Sides,
  tables: readonly (readonly [MovedTable, MovedTable])[],
): Promise<Pick<Moved, 'tables' | 'emptyCount'>> {
  await compareShapes(from, target, schemas, 'after')
  await compareSequences(from, target, schemas)
  const blocks = new Map((await readTables(target, schemas)).map(({ sqlName, blocks }) => [sqlName, blocks]))
  const compared: ComparedTable[] = []
  for (const [source, there] of tables)
    if (source.blocks > 0 || (blocks.get(source.sqlName) ?? 0) > 0)
      compared.push(await compareTable([from, source], [target, there]))
  await step('compared')
  const filled = compared.filter(({ rows }) => rows > 0)
  return { tables: filled, emptyCount: tables.length - filled.length }
}
