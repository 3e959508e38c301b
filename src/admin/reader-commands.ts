/** Commands that ask who may read a table, and who read it. They need a service, because its session decides who may ask. */

import { sawOfTable } from '../core/table-reads.ts'
import { csvCell, exportFormats } from '../http/export-formats.ts'
import { type Command, requireService } from './command.ts'
import type { Flags } from './flags.ts'

interface ShownReads {
  readonly principal: string
  readonly surface: string
  readonly session?: { readonly id: string; readonly name?: string; readonly roles: readonly string[] }
  readonly given?: string
  readonly saw: string
  readonly reads: number
  readonly first_at: string
  readonly last_at: string
}

const csvColumns = [
  ...(['principal', 'surface', 'session_id', 'session', 'roles', 'given', 'saw', 'reads'] as const),
  ...(['first_at', 'last_at'] as const),
]

export const readerCommands: readonly Command[] = [
  {
    words: 'who-read',
    usage: `--table ns.table --from TIME --to TIME [--column NAME] [--saw ${sawOfTable.join('|')}] [--format ${exportFormats.join('|')}]`,
    summary: 'Prints who read a table or a column between two times, as JSON Lines (default) or CSV.',
    details:
      'Over all surfaces, with what each saw of it. A page at a time is loaded and printed. A failure ends with its exit status, and the text is not whole.',
    async prepare(flags) {
      requireService(flags)
      const isCsv = flags.choice('format', exportFormats) === 'csv'
      const times = { from: flags.required('from'), to: flags.required('to') }
      const input = { ...asked(flags), ...times, saw: flags.choice('saw', sawOfTable), limit: 1000 }
      const lineOf = (one: ShownReads) => `${cellsOf(one).map(csvCell).join(',')}\r\n`
      return {
        ...{ operation: 'who_read', input },
        printsItems: {
          head: isCsv ? `${csvColumns.join(',')}\r\n` : '',
          item: (one) => (isCsv ? lineOf(one as ShownReads) : `${JSON.stringify(one)}\n`),
        },
      }
    },
  },
  {
    words: 'who-can-read',
    usage: '--table ns.table [--column NAME] [--limit 50] [--after NEXT]',
    summary: 'Shows what protects a table, which roles are exempt, and what each live session sees of it.',
    fields: ['columns', 'contract', 'next_page_token', 'row_filters', 'sessions'],
    prepare(flags) {
      requireService(flags)
      const page = { limit: flags.integer('limit', 1, 1000) ?? 50, page_token: flags.optional('after') }
      return { operation: 'show_readers', input: { ...asked(flags), ...page } }
    },
  },
]

function asked(flags: Flags) {
  const { namespace, name: table } = flags.requiredTable()
  return { namespace, table, column: flags.optional('column') }
}

/** In the order of the columns. */
function cellsOf({ session, ...reads }: ShownReads): readonly string[] {
  const shown: Readonly<Record<(typeof csvColumns)[number], string | number | undefined>> = {
    ...{ given: undefined, ...reads },
    ...{ session_id: session?.id, session: session?.name, roles: session?.roles.join(' ') },
  }
  return csvColumns.map((column) => String(shown[column] ?? ''))
}
