/** What a verb by name is: an operation of the service, the words that it takes, and how its result is shown. */

import type { Terminal } from '../terminal.ts'

/** The words and flags of a call, as its usage tells them apart. */
export interface ReadWords {
  /** By the names of the usage: `TABLE`, `ID`. */
  readonly places: ReadonlyMap<string, string>
  /** All words that are no flags. */
  readonly rest: readonly string[]
  /** By their names, without the common ones. Switches are `true`. */
  readonly flags: ReadonlyMap<string, string>
  readonly json: boolean
  readonly all: boolean
  readonly limit: number | undefined
  readonly pageToken: string | undefined
  readonly url: string | undefined
  readonly sessionFile: string | undefined
}

export interface NamedVerb {
  /** The words that name it, such as `contract mask set`. */
  readonly words: string
  /** The operation that it runs. */
  readonly operation: string
  /**
   * Its words in capitals, then its flags. `TABLE` is `namespace.table`, `CATALOG.TABLE` has the catalog before it,
   * `FILE` is the body. `…` after the last lets it be there more than once. Every other word or flag is the member of its name. A flag without a value is a switch.
   */
  readonly usage: string
  readonly summary: string
  readonly details?: string
  /** Words after `covenant`, for the help. */
  readonly examples?: readonly string[]
  /** Members that the verb itself sets. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Members that another name stands for: `{ expires: 'expires_at' }`. */
  readonly members?: Readonly<Record<string, string>>
  /** Whether it lists items: page by page, or all at once. */
  readonly lists?: 'pages' | 'whole'
  /** Columns of a list, as `listText` takes them. */
  readonly columns?: readonly string[]
  /** What it does instead, where it is more than one call of its operation. */
  readonly runs?: (read: ReadWords, terminal: Terminal) => Promise<void>
  /** Its result as text, where neither a list nor the fields of an object show it. */
  readonly text?: (result: unknown) => string
}

type More = Omit<NamedVerb, 'words' | 'operation' | 'usage' | 'summary' | 'lists' | 'columns'>

/** A verb that lists items page by page. */
export function listing(
  words: string,
  operation: string,
  usage: string,
  summary: string,
  columns: readonly string[],
  more: More = {},
): NamedVerb {
  return { words, operation, usage, summary, lists: 'pages', columns, ...more }
}

/** A verb that shows one thing, or changes one. */
export function single(
  words: string,
  operation: string,
  usage: string,
  summary: string,
  more: More & Pick<NamedVerb, 'lists' | 'columns'> = {},
): NamedVerb {
  return { words, operation, usage, summary, ...more }
}
