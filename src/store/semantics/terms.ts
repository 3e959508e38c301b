/** Stores glossary terms. Every change adds a version, and the newest is in force. */

import type { GlossaryTerm } from '../../core/metric.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { upsertNode } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { changeSemantics, recordSemantics, type SemanticChange } from './changes.ts'

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

interface Row {
  readonly term: string
  readonly number: number
  readonly definition: Omit<GlossaryTerm, 'name' | 'number'>
}

const toTerm = ({ term: name, number, definition }: Row): GlossaryTerm => ({ ...definition, name, number })

/** The term of a name, as it is in force. */
export async function findTerm(
  store: Store,
  tenant: TenantId,
  name: string,
): Promise<GlossaryTerm | undefined> {
  const [row] = await store.tenantQuery<Row>(
    tenant,
    `select term, number, definition from svc.glossary_term where tenant_id = $1 and term = $2
     order by number desc limit 1`,
    [tenant, name],
  )
  return row && toTerm(row)
}

/** Every term, by name. @throws Fault `bad_request` for a bad page */
export async function listTerms(
  store: Store,
  tenant: TenantId,
  page: PageRequest,
): Promise<Page<GlossaryTerm>> {
  const limit = pageLimit(page)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select distinct on (term) term, number, definition from svc.glossary_term
     where tenant_id = $1 and term > $2 order by term, number desc limit $3::int`,
    [tenant, page.after ?? '', limit + 1],
  )
  const { items, next } = toPage(rows, limit, (row) => row.term)
  return { items: items.map(toTerm), ...(next !== undefined && { next }) }
}
