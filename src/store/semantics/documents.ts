/** Stores imported semantic models as they came, for what only their own format can say. The newest of a name is used. */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson, storableText } from '../database/names.ts'
import type { Store } from '../store.ts'
import { changeSemantics, recordSemantics, type SemanticChange } from './changes.ts'

interface SemanticDocument {
  /** Of the semantic model. */
  readonly name: string
  /** The semantic model in its own format, as JSON. */
  readonly json: string
}

/** Names that a tenant keeps at most. */
const namesMax = 100

/** Keeps documents of Ossie; one that is kept already is no new version. @throws Fault `unprocessable` beyond the bound */
export function saveDocuments(on: SemanticChange, documents: readonly SemanticDocument[]): Promise<void> {
  return changeSemantics(on, async (tx) => {
    for (const { name, json } of documents) {
      const rows = await tx.query<{ readonly number: number }>(
        `insert into svc.semantic_document (tenant_id, format, name, number, document, actor)
         select svc.current_tenant(), 'ossie', $1, coalesce(max(d.number), 0) + 1, $2, $3::text::jsonb
         from svc.semantic_document d where d.tenant_id = svc.current_tenant() and d.format = 'ossie' and d.name = $1
         having (array_agg(d.document order by d.number desc))[1] is distinct from $2 returning number`,
        [storableText(name), storableText(json), storableJson(on.actor)],
      )
      if (rows.length > 0)
        await recordSemantics(
          tx,
          on,
          'import-semantics',
          { format: 'ossie', name },
          { number: rows[0]?.number },
        )
    }
    const [row] = await tx.query<{ readonly names: number }>(
      'select count(distinct name)::int as names from svc.semantic_document where tenant_id = svc.current_tenant()',
    )
    if ((row?.names ?? 0) > namesMax)
      throw new Fault('unprocessable', `At most ${namesMax} semantic models of other formats are kept.`)
  })
}

/** The newest document of each name. */
export function loadDocuments(store: Store, tenant: TenantId): Promise<readonly SemanticDocument[]> {
  return store.tenantQuery<SemanticDocument>(
    tenant,
    `select distinct on (name) name, document as json from svc.semantic_document where tenant_id = $1 and format = 'ossie'
     order by name, number desc limit $2::int`,
    [tenant, namesMax],
  )
}
