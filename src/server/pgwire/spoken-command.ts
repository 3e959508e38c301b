/** Names a statement that cannot run by the words with which it is written, as PostgreSQL's command tags do. */

import { scanSync } from 'libpg-query'
import { WireError } from './wire-error.ts'

/** Words between CREATE and what is created. */
const between = new Set([
  'OR',
  'REPLACE',
  'TEMP',
  'TEMPORARY',
  'LOCAL',
  'GLOBAL',
  'UNLOGGED',
  'UNIQUE',
  'RECURSIVE',
])
/** Kinds of objects that have a second word. */
const twoWords = new Set(['MATERIALIZED', 'FOREIGN', 'EVENT', 'DEFAULT', 'TEXT', 'ACCESS', 'USER'])
const seconds = new Set(['VIEW', 'TABLE', 'DATA', 'TRIGGER', 'PRIVILEGES', 'SEARCH', 'METHOD', 'MAPPING'])
const objectCommands = new Set(['CREATE', 'ALTER', 'DROP', 'REFRESH', 'IMPORT'])
const tableCommands = new Set(['TRUNCATE', 'LOCK'])

/** As `CREATE VIEW` of `create or replace temp view v as …`. @param kind of the tree, such as `InsertStmt` */
function spokenCommand(kind: string, text: string): string {
  // WITH may stand before what the statement does.
  const written = kind.replace(/Stmt$/, '').toUpperCase()
  if (['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(written)) return written
  const words = scanSync(text)
    .tokens.map((token) => token.text.toUpperCase())
    .filter((word) => /^[A-Z]+$/.test(word))
  const [command = written] = words
  if (tableCommands.has(command)) return `${command} TABLE`
  if (!objectCommands.has(command)) return command
  const [first = '', second = ''] = words.slice(1).filter((word) => !between.has(word))
  const object = twoWords.has(first) && seconds.has(second) ? `${first} ${second}` : first
  return kind === 'CreateTableAsStmt' && object === 'TABLE' ? `${command} TABLE AS` : `${command} ${object}`
}

/** The refusal of a statement that changes something. */
export function cannotExecute(kind: string, text: string): WireError {
  const command = spokenCommand(kind, text)
  const hint = /^(?:CREATE TABLE|SELECT INTO|CREATE MATERIALIZED VIEW|CREATE VIEW)/.test(command)
    ? 'There are no temporary tables and views here. Use WITH, a subquery or a cursor.'
    : undefined
  return new WireError('25006', `cannot execute ${command} in a read-only transaction`, 'ERROR', hint)
}
