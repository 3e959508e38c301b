/**
 * Stores glossary terms. Every change adds a version, and the newest is in force; the removal of a term is a version
 * without a definition. It refuses terms that would lead in a circle, share a synonym or be missed by others.
 */

import { Fault } from '../../base/fault.ts'
import type { GlossaryTerm } from '../../core/metric.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import type { Page, PageRequest } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import { deleteNode, upsertNode } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { changeSemantics, recordSemantics, type SemanticChange } from './changes.ts'
import { findNewestOf, listNewest, type NewestRow } from './newest.ts'
import { assertFreeWords, assertNoCircle, requireTerms, termsInForce, usesOfTerm } from './term-rules.ts'

/**
 * Saves a term as its next version.
 * @returns with its number
 * @throws Fault `unprocessable` for a wider term that is not there or leads back, and for a word that it has twice;
 *   `conflict` for a word of another term
 */
export function saveTerm(on: SemanticChange, term: Omit<GlossaryTerm, 'number'>): Promise<GlossaryTerm> {
  return changeSemantics(on, async (tx) => {
    const { name, ...definition } = term
    if (definition.broader !== undefined) {
      if (definition.broader !== name) await requireTerms(tx, [definition.broader])
      await assertNoCircle(tx, name, definition.broader)
    }
    await assertFreeWords(tx, name, definition.synonyms)
    const number = await addVersion(tx, on, name, definition)
    const properties = { name, definition: definition.definition }
    await upsertNode(tx, on.tenant, { label: 'GlossaryTerm', id: nodeId(name), properties })
    await recordSemantics(tx, on, 'put-term', { term: name }, definition)
    return { ...term, number }
  })
}

/**
 * Removes a term; its versions are kept, and a term of that name may be defined again.
 * @throws Fault `not_found`; `conflict` where metrics, dimensions or narrower terms name it
 */
export function removeTerm(on: SemanticChange, name: string): Promise<void> {
  return changeSemantics(on, async (tx) => {
    const [row] = await tx.query(`select from ${termsInForce} t where term = $1`, [name])
    if (row === undefined) throw new Fault('not_found', 'There is no such term.')
    const uses = await usesOfTerm(tx, name)
    if (uses.length > 0)
      throw new Fault('conflict', `The term ${name} is named by ${uses.join(', ')}. Change those first.`)
    await addVersion(tx, on, name, null)
    await deleteNode(tx, { label: 'GlossaryTerm', id: nodeId(name) })
    await recordSemantics(tx, on, 'delete-term', { term: name })
  })
}

/** @param definition null where the term is removed */
async function addVersion(
  tx: Tx,
  on: SemanticChange,
  name: string,
  definition: object | null,
): Promise<number> {
  const [row] = await tx.query<{ readonly number: number }>(
    `insert into svc.glossary_term (tenant_id, term, number, definition, actor)
     select svc.current_tenant(), $1, coalesce(max(t.number), 0) + 1, $2::text::jsonb, $3::text::jsonb
     from svc.glossary_term t where t.tenant_id = svc.current_tenant() and t.term = $1
     returning number`,
    [name, storableJson(definition), storableJson(on.actor)],
  )
  return row?.number ?? 1
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

/**
 * What the glossary says means the same as each of several words or phrases: the other names of the terms that have it, by
 * its stems, as a name or a synonym.
 */
export async function synonymsOf(
  store: Store,
  tenant: TenantId,
  phrases: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await store.tenantQuery<{ readonly phrase: string; readonly names: readonly string[] }>(
    tenant,
    `with named as (
       select jsonb_build_array(t.term) || coalesce(t.definition -> 'synonyms', '[]') as names
       from ${termsInForce} t
     ), each as (
       select n.names, e.name, plainto_tsquery('english', replace(e.name, '_', ' '))::text as stems
       from named n, jsonb_array_elements_text(n.names) e(name)
     )
     select p.phrase, jsonb_agg(distinct o.name) as names
     from jsonb_array_elements_text($1::text::jsonb) p(phrase)
     join each e on e.stems = plainto_tsquery('english', p.phrase)::text and e.stems <> ''
     cross join jsonb_array_elements_text(e.names) o(name)
     where o.name <> e.name group by p.phrase`,
    [JSON.stringify(phrases.map(storableText))],
  )
  return new Map(rows.map(({ phrase, names }) => [phrase, names.map((name) => name.replaceAll('_', ' '))]))
}
