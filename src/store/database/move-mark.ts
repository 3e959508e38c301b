/**
 * The marks of a move from the embedded store to a server: a file beside the embedded data, and a schema in the database
 * that is being filled. By either a service refuses to start on data that are not whole, or are elsewhere by now. The
 * move itself is in `store/move`.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type postgres from 'postgres'
import { Fault } from '../../base/fault.ts'

/** What the file beside the embedded data says. */
export interface MoveMark {
  /** The same as in the database. */
  readonly id: string
  /** `moved`: the database has all of it, compared by hash. */
  readonly state: 'moving' | 'moved'
  /** Host, port and name of the database; no user and no password. */
  readonly to: string
  readonly at: string
}

const markFile = 'move.json'

/**
 * The mark of a data directory, where there is one.
 * @throws Fault `misconfigured` where the file is none of a move
 */
export function moveMarkOf(dataDirectory: string): MoveMark | undefined {
  const path = join(dataDirectory, markFile)
  if (!existsSync(path)) return undefined
  try {
    const { id, state, to, at } = JSON.parse(readFileSync(path, 'utf8')) as Partial<MoveMark>
    if ((state === 'moving' || state === 'moved') && id !== undefined && to !== undefined && at !== undefined)
      return { id, state, to, at }
  } catch {
    // As a file of something else.
  }
  throw new Fault('misconfigured', `${path} is not the mark of a move: remove it if no move was begun.`)
}

/** Writes the mark. It is complete or unchanged, whenever the process dies. */
export function writeMoveMark(dataDirectory: string, mark: MoveMark): void {
  const path = join(dataDirectory, markFile)
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeSync(file, JSON.stringify(mark))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
}

/** Removes the mark, so that a service starts on the directory again. */
export function removeMoveMark(dataDirectory: string): void {
  rmSync(join(dataDirectory, markFile), { force: true })
}

/** @throws Fault `misconfigured` where the data of the directory are being moved, or were */
export function assertNotMoved(dataDirectory: string): void {
  const mark = moveMarkOf(dataDirectory)
  if (mark === undefined) return
  const said =
    mark.state === 'moved'
      ? `were moved to ${mark.to} at ${mark.at}: set SVC_DATABASE_URL to that database`
      : `are being moved to ${mark.to} since ${mark.at}: run the same \`covenant move\` again`
  throw new Fault(
    'misconfigured',
    `The data of ${dataDirectory} ${said}. To go on with the embedded data, run \`covenant move --give-up\`; what was written to the database since is not in them.`,
  )
}

/** @throws Fault `misconfigured` where a move fills the database and has not ended */
export async function assertNotFilling(sql: postgres.Sql): Promise<void> {
  if (await isFilling(sql))
    throw new Fault(
      'misconfigured',
      'A move from the embedded store fills this database and has not ended: run the same `covenant move` again.',
    )
}

/** Whether a move has begun to fill the database and has not ended. */
async function isFilling(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<{ filling: boolean }[]>`
    select exists (select from pg_namespace where nspname = 'svc_move') as filling`
  return row?.filling === true
}
