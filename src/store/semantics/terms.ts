/** Stores glossary terms. Every change adds a version, and the newest is in force. */

import type { GlossaryTerm } from '../../core/metric.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Page, PageRequest } from '../database/page.ts'
import { upsertNode } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { changeSemantics, recordSemantics, type SemanticChange } from './changes.ts'
import { findNewestOf, listNewest, type NewestRow } from './newest.ts'

/** Saves a term as its next version. @returns with its number */
export function saveTerm(on: SemanticChange, term: Omit<GlossaryTerm, 'number'>): Promise<GlossaryTerm> {
  return changeSemantics(on, async (tx) => {
    const { name, ...definition } = term
    const [row] = await tx.query<{ readonly number: number }>(
      `insert into svc.glossary_term (tenant_id, term, number, definition, actor)
       select svc.current_tenant(), $1, coalesce(max(t.number), 0) + 1, $2::text::jsonb, $3::text::jsonb
       from svc.glossary_term t where t.tenant_id = svc.current_tenant() and t.term = $1
       returning number`,
      [name, storableJson(definition), storableJson(on.actor)],
    )
    const properties = { name, definition: definition.definition }
    await upsertNode(tx, on.tenant, { label: 'GlossaryTerm', id: nodeId(name), properties })
    await recordSemantics(tx, on, 'put-term', { term: name }, definition)
    return { ...term, number: row?.number ?? 1 }
  })
}

type Definition = Omit<GlossaryTerm, 'name' | 'number'>
const toTerm = ({ definition, ...row }: NewestRow<Definition>): GlossaryTerm => ({ ...definition, ...row })

/** The term of a name, as it is in force. */
export async function findTerm(
  store: Store,
  tenant: TenantId,
  name: string,
): Promise<GlossaryTerm | undefined> {
  return (await findTerms(store, tenant, [name]))[0]
}

/** The terms of several names, in their order; undefined where there is none. */
export async function findTerms(
  store: Store,
  tenant: TenantId,
  names: readonly string[],
): Promise<readonly (GlossaryTerm | undefined)[]> {
  const rows = await findNewestOf<Definition>(store, tenant, 'glossary_term', names)
  return rows.map((row) => row && toTerm(row))
}

/** Every term, by name. @throws Fault `bad_request` for a bad page */
export async function listTerms(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<GlossaryTerm>> {
  const { items, ...more } = await listNewest<Definition>(store, tenant, 'glossary_term', page)
  return { items: items.map(toTerm), ...more }
}
