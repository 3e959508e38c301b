/** Writes README.md of a folder of evidence: what each file holds, what was asked when by whom, and what it does not prove. */

import { tableName } from '../../core/table-ref.ts'
import { shownText } from '../text-table.ts'
import type { Asked } from './evidence-files.ts'

interface Circumstances {
  readonly asked: Asked
  /** Address of the service. */
  readonly service: string
  readonly session: {
    readonly tenant: string
    readonly session_id: string
    readonly principal: { readonly sub: string; readonly roles: readonly string[] }
  }
  readonly began: Date
  readonly ended: Date
}

interface Written {
  readonly name: string
  readonly holds: string
  readonly notes: readonly string[]
  readonly lines: number
  readonly sha256: string
}

/** Text of others in a line of Markdown: it ends no line and no code. */
const code = (text: string) => `\`${shownText(text).replaceAll('`', '’')}\``

/** The text of README.md. */
export function readmeText(
  { asked, service, session, began, ended }: Circumstances,
  written: readonly Written[],
): string {
  const { principal } = session
  const roles = principal.roles.length === 0 ? 'no role' : principal.roles.map(code).join(', ')
  const isOpen = asked.to.getTime() > began.getTime()
  return `# Evidence of ${code(tableName(asked.table))}

- Between ${asked.from.toISOString()} and, without that moment, ${asked.to.toISOString()}
- Asked of ${code(service)}, tenant ${code(session.tenant)}
- By ${code(principal.sub)} with ${roles}, through session ${code(session.session_id)}
- From ${began.toISOString()} to ${ended.toISOString()}, by the clock of the machine that asked
${isOpen ? '- The second time had not passed when it was asked: what happened after is not here.\n' : ''}
## Files

Each line is one JSON object, as the operation of the service that is named answers it. SHA-256 is of the whole file.

${written.map(fileText).join('\n')}
## What this does not prove

- Nothing is signed. Who has the folder can change a file and this one with it; ask the service again to compare.
- The files were asked for one after the other, so they are not of one moment.
- It is what the service recorded. Who has keys of their own for the storage reads past it, and what retention removed before is not here.
- Names are those of the time of the record: a table that was renamed is asked for under each of its names.
- The documents say what was declared. A mask or row filter that was set beside a document is in \`changes.ndjson\` alone.
`
}

function fileText({ name, holds, notes, lines, sha256 }: Written): string {
  const more = notes.map((note) => `${note}\n\n`).join('')
  return `### ${name}\n\n${holds}\n\n${more}${lines} line(s), SHA-256 \`${sha256}\`\n`
}
