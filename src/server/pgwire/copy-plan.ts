/** Plans COPY … TO STDOUT of a query or a table. COPY FROM is refused. */

import type { CopyStmt, Node } from 'libpg-query'
import { quoteIdentifier } from '../../base/sql-text.ts'
import { writeBare } from '../../wire/postgres/backend-messages.ts'
import { type CopyFormat, CopyWriter, defaultCopyFormat } from '../../wire/postgres/copy.ts'
import { constantText } from './command-plans.ts'
import { planData } from './data-plan.ts'
import { commandPlan } from './plan.ts'
import { emptyBinding, type Plan } from './portal.ts'
import type { SessionState } from './session-state.ts'
import { innerQuery, queryInParentheses, type SourceStatement, withinStatement } from './statement.ts'
import { WireError } from './wire-error.ts'

/**
 * Plans a COPY.
 * @throws WireError 25006 for COPY FROM
 * @throws WireError 42501 for files and programs
 * @throws WireError 22023, 0A000 or 42601 for options
 * @throws SqlError for the query
 */
export async function planCopy(
  session: SessionState,
  statement: SourceStatement,
  tree: CopyStmt,
): Promise<Plan> {
  if (tree.is_from) throw new WireError('25006', 'cannot execute COPY FROM in a read-only transaction')
  if (tree.filename !== undefined || tree.is_program)
    throw new WireError('42501', 'COPY goes to STDOUT only: files and programs are not supported')
  const format = copyFormat(tree.options ?? [])
  const inner = tree.query && innerQuery(statement, tree.query, queryInParentheses)
  const text = inner?.text ?? tableQuery(tree)
  const query = await withinStatement(statement, inner, planData(session, text, []))
  const { columns } = query.prepared
  return commandPlan(session, async (signal) => {
    const { outbox } = session
    const rows = query.rowsOf(emptyBinding)()
    const copy = new CopyWriter(
      columns.map(({ name }) => name),
      format,
      session.settings.textOptions,
    )
    try {
      copy.begin(outbox.writer)
      const progress = await rows.copy(outbox, copy, signal)
      copy.end(outbox.writer)
      writeBare(outbox.writer, 'copyDone')
      session.tally.rows += progress.rows
      return { tag: `COPY ${progress.rows}` }
    } finally {
      rows.close()
    }
  })
}

function tableQuery({ relation, attlist = [] }: CopyStmt): string {
  if (relation === undefined) throw new WireError('42601', 'COPY names neither a table nor a query.')
  const table = [relation.schemaname, relation.relname]
    .filter((name) => name !== undefined)
    .map(quoteIdentifier)
  const columns = attlist.map((each) => quoteIdentifier(nameOf(each)))
  return `SELECT ${columns.length === 0 ? '*' : columns.join(', ')} FROM ${table.join('.')}`
}

function nameOf(node: Node): string {
  return 'String' in node ? (node.String.sval ?? '') : ''
}

function copyFormat(options: readonly Node[]): CopyFormat {
  const given = options.flatMap((option) =>
    'DefElem' in option ? [[option.DefElem.defname ?? '', option.DefElem.arg] as const] : [],
  )
  const names = given.map(([name]) => name)
  if (new Set(names).size !== names.length) throw new WireError('42601', 'conflicting or redundant options')
  const named = optionText(given.find(([name]) => name === 'format')?.[1])?.toLowerCase() ?? 'text'
  if (named !== 'text' && named !== 'csv' && named !== 'binary')
    throw new WireError('22023', `COPY format "${named}" not recognized`)
  let format = defaultCopyFormat(named)
  for (const [name, value] of given)
    if (name !== 'format') format = { ...format, ...option(name, value, named) }
  // The escape character defaults to the quote character.
  if (!names.includes('escape')) format = { ...format, escape: format.quote }
  checkSyntax(format)
  return format
}

function option(name: string, value: Node | undefined, format: CopyFormat['format']): Partial<CopyFormat> {
  const text = () => optionText(value) ?? ''
  if (name === 'encoding') {
    if (!/^utf-?8$/i.test(text())) throw new WireError('0A000', 'COPY is served in UTF8 only')
    return {}
  }
  if (format === 'binary') throw new WireError('42601', `cannot specify ${name.toUpperCase()} in BINARY mode`)
  if (name === 'delimiter') return { delimiter: text() }
  if (name === 'null') return { nullText: text() }
  if (name === 'header') return { header: isOn(value) }
  if (format !== 'csv') throw new WireError('0A000', `COPY ${name} requires CSV mode`)
  if (name === 'quote') return { quote: text() }
  if (name === 'escape') return { escape: text() }
  if (name === 'force_quote') return { forceQuote: forcedColumns(value) }
  throw new WireError('0A000', `the COPY option "${name}" is not supported`)
}

function optionText(value: Node | undefined): string | undefined {
  if (value === undefined) return undefined
  if ('String' in value) return value.String.sval ?? ''
  if ('Integer' in value) return String(value.Integer.ival ?? 0)
  if ('Boolean' in value) return String(value.Boolean.boolval ?? false)
  return constantText(value)
}

function isOn(value: Node | undefined): boolean {
  const text = optionText(value)?.toLowerCase() ?? 'true'
  if (['true', 'on', '1'].includes(text)) return true
  if (['false', 'off', '0'].includes(text)) return false
  throw new WireError('22023', 'the COPY option "header" takes a Boolean value')
}

function forcedColumns(value: Node | undefined): CopyFormat['forceQuote'] {
  if (value === undefined || 'A_Star' in value) return 'all'
  return new Set('List' in value ? (value.List.items ?? []).map(nameOf) : [])
}

function checkSyntax({ format, delimiter, quote, escape: escapes, nullText }: CopyFormat): void {
  if (format === 'binary') return
  const isSingle = (text: string) => text.length === 1 && text > '\0' && text < '\x80'
  if (
    !isSingle(delimiter) ||
    /[\r\n]/.test(delimiter) ||
    (format === 'text' && /[\\.a-z0-9]/.test(delimiter))
  )
    throw new WireError('22023', 'COPY delimiter must be a single one-byte character')
  if (!isSingle(quote) || !isSingle(escapes) || quote === delimiter)
    throw new WireError('22023', 'COPY quote and escape must be single one-byte characters')
  if (
    /[\r\n]/.test(nullText) ||
    nullText.includes(delimiter) ||
    (format === 'csv' && nullText.includes(quote))
  )
    throw new WireError('22023', 'COPY null representation cannot hold a delimiter, quote or line break')
}
