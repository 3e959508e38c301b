/**
 * How access for a time is asked for: the words that every refusal, notice and explanation has. It reads nothing, names
 * what the reader was told of alone, and asks for nothing itself.
 */

import { type TableRef, tableName } from './table-ref.ts'

/** What somebody may ask for: columns whose values are hidden, or all that is hidden of a table. */
export interface AskableAccess {
  readonly table: TableRef
  /** Absent: all that is hidden. */
  readonly columns?: readonly string[]
}

/** Where the page for it is; undefined where nobody configured how browsers reach the service. */
export type RequestPage = () => URL | undefined

/** Path of the page that helps to ask. */
export const requestPagePath = '/console/request'

/** Columns that a hint names; where more are hidden, it is for all of the table. */
const namedMax = 10
/** Names that stand in a shell and in a list with commas as they are. */
const plain = /^[A-Za-z0-9_.]+$/

/** What a filter or mask hides. */
interface Hiding {
  readonly kind: string
  readonly table: TableRef
  readonly column?: string
}

/** What is hidden by filters and masks, by table. */
export function askableOf(protections: readonly Hiding[]): readonly AskableAccess[] {
  const hiding = protections.filter(({ kind }) => kind === 'column_mask' || kind === 'row_filter')
  return [...Map.groupBy(hiding, ({ table }) => tableName(table)).values()].flatMap((all) => {
    const [first] = all
    if (first === undefined) return []
    const columns = [...new Set(all.flatMap(({ column }) => column ?? []))]
    const isMasksAlone = all.every(({ kind }) => kind === 'column_mask')
    return [{ table: first.table, ...(isMasksAlone && isNamable(columns) && { columns }) }]
  })
}

function isNamable(columns: readonly string[]): boolean {
  return columns.length > 0 && columns.length <= namedMax && columns.every((name) => plain.test(name))
}

/** The command that asks. */
export function accessCommand({ table, columns = [] }: AskableAccess): string {
  const named = isNamable(columns) ? ` --columns ${columns.join(',')}` : ''
  return `covenant access request ${tableName(table)}${named}`
}

/** The address of the page that asks; undefined where there is none. */
export function accessLink(page: RequestPage | undefined, asked: AskableAccess): string | undefined {
  const base = page?.()
  if (base === undefined) return undefined
  const link = new URL(requestPagePath, base)
  link.searchParams.set('table', tableName(asked.table))
  if (asked.columns && isNamable(asked.columns)) link.searchParams.set('columns', asked.columns.join(','))
  return link.href
}

/** How to ask for the first of these, as a sentence; undefined where there is none. */
export function accessHint(
  page: RequestPage | undefined,
  [first]: readonly AskableAccess[],
): string | undefined {
  if (first === undefined) return undefined
  const link = accessLink(page, first)
  return `Access for a time: ${accessCommand(first)}${link === undefined ? '' : `, or ${link}`}.`
}

/** As {@link accessHint}, for an agent, which has a tool for it where its session may propose. It is given no link. */
export function agentAccessHint([first]: readonly AskableAccess[]): string | undefined {
  if (first === undefined) return undefined
  const { table, columns } = first
  const of = columns && isNamable(columns) ? ` with the columns ${columns.join(', ')}` : ''
  return `Access for a time: call request_access for ${tableName(table)}${of}, or let your user run: ${accessCommand(first)}.`
}
