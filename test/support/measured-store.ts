/** Measures what each statement of a service reads of large relations, the statements inside of functions included. */

import type { Param, Tx } from '../../src/store/database/session.ts'
import type { Store } from '../../src/store/store.ts'

/** The most that a statement of one text has read at once. */
export interface StatementReads {
  readonly text: string
  /** Rows and index entries that it fetched or passed over. */
  readonly reads: number
  /** Rows that it returned. */
  readonly rows: number
  /** The relation that it read most of. */
  readonly most: string
  /** What the walk was at. */
  readonly during: string
}

export interface MeasuredStore {
  /** The store of the service that is measured: `wrapStore` of a test service. */
  readonly wrap: (store: Store) => Store
  /** Begins to measure reads of these relations and their indexes: object ids with names. */
  measure(relations: ReadonlyMap<string, string>): void
  /** Names what runs from now on. */
  enter(name: string): void
  /** By text, the one that read most for each row that it returned. */
  readonly statements: ReadonlyMap<string, StatementReads>
}

/** Rows that a statement may read without more, and for each row that it returns. */
export const readsAllowed = { at: 1_000, forEachRow: 10 } as const

/** What a statement read beyond what is allowed; none is negative. */
export function excessOf({ reads, rows }: Pick<StatementReads, 'reads' | 'rows'>): number {
  return reads - readsAllowed.at - rows * readsAllowed.forEachRow
}

const readsText = `select oid::text as oid, pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid) as reads
  from unnest($1::text::oid[]) oid where pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid) > 0`

type Reads = ReadonlyMap<string, number>

export function measureStatements(): MeasuredStore {
  const statements = new Map<string, StatementReads>()
  let relations: ReadonlyMap<string, string> | undefined
  let during = ''

  const countReads = async (tx: Tx, names: ReadonlyMap<string, string>): Promise<Reads> => {
    const rows = await tx.query<{ oid: string; reads: string }>(readsText, [
      `{${[...names.keys()].join(',')}}`,
    ])
    return new Map(rows.map(({ oid, reads }) => [oid, Number(reads)]))
  }

  const note = (
    text: string,
    before: Reads,
    after: Reads,
    rows: number,
    names: ReadonlyMap<string, string>,
  ) => {
    const read = [...after].map(([oid, reads]) => [oid, reads - (before.get(oid) ?? 0)] as const)
    const [most = ''] = read.toSorted(([, a], [, b]) => b - a)[0] ?? []
    const reads = read.reduce((sum, [, one]) => sum + one, 0)
    const key = text.replaceAll(/\s+/g, ' ').trim()
    const found = { text: key, reads, rows, most: names.get(most) ?? '', during }
    const known = statements.get(key)
    if (known === undefined || excessOf(known) < excessOf(found)) statements.set(key, found)
  }

  /** The three are sent together, so that no other statement of the transaction runs between them. */
  const measured = async <Row extends object>(
    tx: Tx,
    text: string,
    work: () => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> => {
    if (relations === undefined) return await work()
    const names = relations
    const [before, result, after] = await Promise.allSettled([
      countReads(tx, names),
      work(),
      countReads(tx, names),
    ])
    if (result.status === 'rejected') throw result.reason
    if (before.status === 'fulfilled' && after.status === 'fulfilled')
      note(text, before.value, after.value, result.value.length, names)
    return result.value
  }

  const measuredTx = (tx: Tx): Tx => ({
    ...tx,
    query: <Row extends object>(
      text: string,
      params?: readonly Param[],
      options?: { readonly prepare?: boolean },
    ) => measured<Row>(tx, text, () => tx.query<Row>(text, params, options)),
  })

  const callText = (name: string, count: number) =>
    `select * from svc.${name}(${Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')})`

  return {
    statements,
    measure(names) {
      relations = names
    },
    enter(name) {
      during = name
    },
    wrap: (store) => ({
      ...store,
      tenantTransaction: (tenant, work, options) =>
        store.tenantTransaction(tenant, (tx) => work(measuredTx(tx)), options),
      tenantQuery: (tenant, text, params, { prepare = true, ...options } = {}) =>
        store.tenantTransaction(tenant, (tx) => measuredTx(tx).query(text, params, { prepare }), options),
      tenantCall: (tenant, name, params) =>
        relations === undefined
          ? store.tenantCall(tenant, name, params)
          : store.tenantTransaction(tenant, (tx) =>
              measuredTx(tx).query(callText(name, params.length + 1), [tenant, ...params]),
            ),
      sessionCall: (expected, name, params) =>
        relations === undefined
          ? store.sessionCall(expected, name, params)
          : store.tenantTransaction(expected, (tx) =>
              measuredTx(tx).query(callText(name, params.length), params),
            ),
      adminTransaction: (work, options) => store.adminTransaction((tx) => work(measuredTx(tx)), options),
      adminQuery: (text, params, options) =>
        store.adminTransaction((tx) => measuredTx(tx).query(text, params), options),
      adminCall: (name, params) =>
        relations === undefined
          ? store.adminCall(name, params)
          : store.adminTransaction((tx) => measuredTx(tx).query(callText(name, params.length), params)),
    }),
  }
}
