/** Declares find_datasets: the tables that the caller may read, by words and tags. */

import { Type } from '@sinclair/typebox'
import { askedWords } from '../../../contract/asked-words.ts'
import { searchTables } from '../../../contract/search-tables.ts'
import { tableName } from '../../../core/table-ref.ts'
import { described, list, maybe, object, ordinal, text } from '../../../http/schemas.ts'
import { tablesOfTerm } from '../../../semantics/describe-metric.ts'
import { cursorInput, cursorsOf } from '../cursor.ts'
import { fitting, listBytes } from '../fitting.ts'
import { tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark, untrustedText, untrustedTextOf } from '../untrusted.ts'
import { catalogNames } from './catalogs.ts'

const limitDefault = 20

export const findDatasets = tool({
  name: 'find_datasets',
  description:
    'Find tables that you may read, best first, by words in names, descriptions, columns and tags, or by a glossary term. Start here. Also lists the catalogs that `query` takes.',
  scope: 'mcp:read',
  gives: { visible: ['existence', 'description', 'columns'] },
  input: object({
    query: maybe(
      Type.String({
        maxLength: 200,
        description:
          'words; stems and synonyms of the glossary count, and one word is enough; absent: all tables',
      }),
    ),
    tag: maybe(Type.String({ maxLength: 255, description: 'a tag that a column has' })),
    term: maybe(
      Type.String({ maxLength: 255, description: 'a glossary term that a metric or dimension means' }),
    ),
    limit: maybe(Type.Integer({ minimum: 1, maximum: 50, default: limitDefault })),
    cursor: cursorInput,
  }),
  output: object({
    datasets: list(
      object({
        ...untrustedMark,
        table: text,
        contract: maybe(object({ id: text, version: ordinal })),
        meaning: maybe(untrustedText),
        matched: maybe(list(text)),
      }),
    ),
    catalogs: list(text),
    next_cursor: maybe(text),
    hint: maybe(described(text, 'what to do where nothing was found')),
  }),
  async run(context, { query, tag, term, limit, cursor: given }) {
    const { parts, caller } = context
    const cursors = await cursorsOf(context, 'find_datasets', { query, tag, term })
    if (term !== undefined) parts.licensed.require('semantic-layer')
    const on = { store: parts.store, clock: parts.clock, tenant: caller.tenant }
    const only = term === undefined ? undefined : await tablesOfTerm(on, term)
    const words = await askedWords(parts.store, caller.tenant, query)
    const search = { words, tag, only, limit: limit ?? limitDefault, after: cursors.open(given) }
    const [{ found, next }, catalogs] = await Promise.all([
      searchTables(parts.store, caller.tenant, search, caller.principal),
      catalogNames(parts.store, caller.tenant),
    ])
    const datasets = found.map(({ table: { ref, contract, description }, matched }) => ({
      ...untrusted,
      table: cleanName(tableName(ref)),
      ...(contract && { contract: { id: cleanName(contract.id), version: contract.version } }),
      ...(description !== undefined && { meaning: untrustedTextOf(firstLine(description)) }),
      ...(matched.length > 0 && { matched }),
    }))
    const shown = fitting(datasets, listBytes(limit))
    const end = shown.length < found.length ? found[shown.length - 1]?.position : next
    return {
      datasets: [...shown],
      catalogs,
      next_cursor: cursors.seal(end),
      ...(shown.length === 0 && end === undefined && { hint: nothingFound }),
    }
  },
})

const nothingFound =
  'No table that you may read has one of these words, this tag or this term. Try other words, or call without any to list all tables.'

const lineCharsMax = 200

function firstLine(description: string): string {
  return (description.trim().split('\n')[0] ?? '').slice(0, lineCharsMax)
}
