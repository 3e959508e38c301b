/** What the database that is filled says of the move: which one it is, how far it has come, and by which version. */

import type postgres from 'postgres'
import { quoteText } from '../../base/sql-text.ts'

/** In their order. `schema`: tables are made; `copy`: rows are copied; `check`: both sides are compared. */
export type MovePhase = 'schema' | 'copy' | 'check'

interface Begun {
  readonly id: string
  readonly phase: MovePhase
  readonly migrations: string
}

/** Notes that a move has begun, before it changes anything else. */
export async function beginJournal(
  sql: postgres.Sql,
  { id, migrations }: Pick<Begun, 'id' | 'migrations'>,
): Promise<void> {
  await sql
    .unsafe(`begin; create schema svc_move;
create table svc_move.move (id uuid not null, phase text not null, migrations text not null, began_at timestamptz not null default now());
create table svc_move.copied (relation text primary key, pages float8 not null);`)
    .simple()
  await sql`insert into svc_move.move (id, phase, migrations) values (${id}, 'schema', ${migrations})`
  await sql.unsafe('commit').simple()
}

/** The move that fills the database. */
export async function readJournal(sql: postgres.Sql): Promise<Begun | undefined> {
  const [row] = await sql<Begun[]>`select id, phase, migrations from svc_move.move`
  return row
}

/** The statement that notes a phase. */
export const phaseText = (phase: MovePhase) => `update svc_move.move set phase = '${phase}'`

/** The pages of each table that are copied. */
export async function readCopied(sql: postgres.Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ relation: string; pages: number }[]>`select relation, pages from svc_move.copied`
  return new Map(rows.map(({ relation, pages }) => [relation, pages]))
}

/** The statement that notes how many pages of a table are copied. */
export const copiedText = (relation: string, pages: number) =>
  `insert into svc_move.copied (relation, pages) values (${quoteText(relation)}, ${pages})
on conflict (relation) do update set pages = excluded.pages`

/** Gives the database free: a service starts on it from now on. */
export async function endJournal(sql: postgres.Sql): Promise<void> {
  await sql.unsafe('drop schema svc_move cascade').simple()
}
