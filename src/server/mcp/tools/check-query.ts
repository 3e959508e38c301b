/** Declares check_query: what a statement would read, and what would protect it. It runs nothing. */

import { tableName } from '../../../core/table-ref.ts'
import { described, flag, list, maybe, object, ordinal, text, wholeNumber } from '../../../http/schemas.ts'
import { explain } from '../../../query/explain/explain.ts'
import { runError } from '../../../query/run/attempt/run-error.ts'
import { type EarlierRuns, earlierRuns } from '../../../store/query/earlier-runs.ts'
import { partOf } from '../fitting.ts'
import { tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark } from '../untrusted.ts'
import { catalogInput, chosenCatalog } from './catalogs.ts'
import { accessView, protectionSchema, protectionView, sqlInput } from './query.ts'

const listTotal = maybe(described(wholeNumber, 'where not all are shown'))
/** Bytes of each list, in sum below those of an answer that nobody asked to be long. */
const bytes = { columns: 8_000, reads: 12_000, readColumns: 4_000, protections: 8_000 } as const

export const checkQuery = tool({
  name: 'check_query',
  description:
    'Check a SELECT without running it: result columns, tables and columns that it reads, filters and masks that would apply, and what your earlier runs of it took. Returns no rows.',
  scope: 'mcp:read',
  gives: { visible: ['existence', 'description', 'columns'] },
  input: object({ sql: sqlInput, catalog: catalogInput }),
  output: object({
    columns: object({ ...untrustedMark, items: list(object({ name: text, type: text })), total: listTotal }),
    parameters: list(text),
    reads_total: listTotal,
    reads: list(
      object({
        ...untrustedMark,
        table: text,
        contract: maybe(object({ id: text, version: ordinal })),
        columns: list(text),
        columns_total: listTotal,
        snapshot_id: maybe(text),
        pinned: maybe(flag),
      }),
    ),
    protections: object({ ...untrustedMark, items: list(protectionSchema), total: listTotal }),
    access: maybe(text),
    estimate: maybe(
      object({
        runs: ordinal,
        rows: wholeNumber,
        milliseconds: wholeNumber,
        bytes_scanned: maybe(wholeNumber),
      }),
    ),
    hint: maybe(text),
  }),
  async run(context, { sql, catalog }) {
    const { parts, caller, signal } = context
    const input = {
      statement: sql,
      target: { catalog: await chosenCatalog(context, catalog) },
      searchPath: [],
      principal: caller.principal,
      parameters: undefined,
    }
    const explained = await explain(parts, caller.tenant, input, false, signal).catch((thrown: unknown) => {
      throw runError(thrown)
    })
    const policies = explained.policies.map(({ column, action, ...policy }) => ({
      ...policy,
      ...(column !== undefined && { column }),
      ...(action !== undefined && { action }),
    }))
    const runs = await earlierRuns(parts.store, caller.tenant, caller.principal.sub, explained.fingerprint)
    return {
      ...estimateView(runs),
      columns: {
        ...untrusted,
        ...partOf(
          explained.columns.map(({ name, type }) => ({ name: cleanName(name), type })),
          bytes.columns,
        ),
      },
      parameters: [...explained.parameters],
      ...readsView(explained.reads),
      protections: { ...untrusted, ...partOf(policies.map(protectionView), bytes.protections) },
      ...accessView(policies),
    }
  },
})

function readsView(reads: Awaited<ReturnType<typeof explain>>['reads']) {
  const views = reads.map(({ table, contract, columns, snapshot }) => {
    const named = partOf(columns.map(cleanName), bytes.readColumns)
    return {
      ...untrusted,
      table: cleanName(tableName(table)),
      ...(contract && { contract: { id: cleanName(contract.id), version: contract.version } }),
      columns: named.items,
      ...(named.total !== undefined && { columns_total: named.total }),
      ...(snapshot?.id != null && { snapshot_id: snapshot.id }),
      ...(snapshot && { pinned: snapshot.pinned }),
    }
  })
  const { items, total } = partOf(views, bytes.reads)
  return { reads: items, ...(total !== undefined && { reads_total: total }) }
}

/** The cost of a statement by the medians of earlier runs; how large a table is would tell of its hidden rows. */
function estimateView(earlier: EarlierRuns | undefined) {
  if (earlier === undefined)
    return { hint: 'You have not run this statement yet, so its cost is not known. Begin with a narrow one.' }
  const { runs, rowsOut, runMs, bytesScanned } = earlier
  return {
    estimate: {
      ...{ runs, rows: rowsOut, milliseconds: Math.ceil(runMs) },
      ...(bytesScanned !== undefined && { bytes_scanned: bytesScanned }),
    },
  }
}
