/** Reads a test store's whole database as text, past row-level security, as a dump of the operator would have it. */

import type { TenantId } from '../../src/core/tenant.ts'
import type { TestStore } from './store.ts'

/** Texts of a database, each with where it stands: names of schemas, tables and functions, and every row. */
export type Dump = readonly { readonly at: string; readonly text: string }[]

/** Everything but the server's own schemas. Bytes are hex, as in `hexOf`. @param any a tenant's id, of one or none */
export async function dumpOf(store: TestStore, any: TenantId): Promise<Dump> {
  return await store.ownerTransaction(any, async (tx) => {
    // The connecting user of a test is a superuser.
    await tx.query('set local role none')
    const relations = await tx.query<{ readonly name: string; readonly has_rows: boolean }>(
      `select format('%I.%I', n.nspname, c.relname) as name, c.relkind = 'r' as has_rows
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1`,
    )
    const names = await tx.query<{ readonly name: string }>(
      `select nspname::text as name from pg_namespace union all select proname from pg_proc where pronamespace <> 'pg_catalog'::regnamespace`,
    )
    const texts = [...relations, ...names].map(({ name }) => ({ at: 'a name', text: name }))
    for (const { name } of relations.filter(({ has_rows }) => has_rows)) {
      const rows = await tx.query<{ readonly text: string }>(`select r::text as text from ${name} r`, [], {
        prepare: false,
      })
      texts.push(...rows.map(({ text }) => ({ at: name, text })))
    }
    return texts
  })
}

/** Where a text stands in a dump, as text or as bytes. */
export function foundIn(dump: Dump, wanted: string): readonly string[] {
  const hex = Buffer.from(wanted).toString('hex')
  const places = dump.filter(({ text }) => text.includes(wanted) || text.includes(hex)).map(({ at }) => at)
  return [...new Set(places)].sort()
}
