/** What holds between the terms of a tenant, and what names them. It is asked in the transaction of a change. */

import { Fault } from '../../base/fault.ts'
import { storableText } from '../database/names.ts'
import type { Tx } from '../database/session.ts'

/** The terms in force, with their definitions, as a table expression. */
export const termsInForce = `(select term, definition from (select distinct on (term) term, definition from svc.glossary_term
  where tenant_id = svc.current_tenant() order by term, number desc) n where definition <> 'null')`

/** @throws Fault `unprocessable` that names the first term that the glossary does not have */
export async function requireTerms(tx: Tx, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const rows = await tx.query<{ readonly term: string }>(
    `select term from ${termsInForce} t where term in (select jsonb_array_elements_text($1::text::jsonb))`,
    [JSON.stringify(names.map(storableText))],
  )
  const found = new Set(rows.map(({ term }) => term))
  const missing = names.find((name) => !found.has(name))
  if (missing !== undefined) throw new Fault('unprocessable', `The glossary has no term \`${missing}\`.`)
}

/**
 * @param name of the term whose wider term is to be `broader`
 * @throws Fault `unprocessable` that names the circle in which its wider terms would lead
 */
export async function assertNoCircle(tx: Tx, name: string, broader: string): Promise<void> {
  const rows = await tx.query<{ readonly term: string }>(
    `with recursive t as materialized (select term, definition ->> 'broader' as broader from ${termsInForce} all_terms),
       up as (select $2::text as term, array[$2::text] as way
         union all select t.broader, up.way || t.broader from up join t on t.term = up.term
           where t.broader is not null and up.term <> $1 and t.broader <> all (up.way))
     select term from up order by cardinality(way)`,
    [name, broader],
  )
  const way = rows.map(({ term }) => term)
  if (way.includes(name))
    throw new Fault('unprocessable', `The wider terms lead in a circle: ${[name, ...way].join(' → ')}.`)
}

/**
 * A word of the glossary leads to one term, in any case of its letters.
 * @throws Fault `unprocessable` for a word that the term has twice, `conflict` for one that another term has
 */
export async function assertFreeWords(tx: Tx, name: string, synonyms: readonly string[]): Promise<void> {
  const words = [name, ...synonyms].map((word) => word.trim().toLowerCase())
  const twice = synonyms.find((_, index) => words.indexOf(words[index + 1] ?? '') !== index + 1)
  if (twice !== undefined)
    throw new Fault('unprocessable', `The term ${name} has the word ${JSON.stringify(twice)} twice.`)
  const [taken] = await tx.query<{ readonly term: string; readonly word: string }>(
    `select term, word from ${termsInForce} t, jsonb_array_elements_text(definition -> 'synonyms' || to_jsonb(term)) word
     where term <> $1 and lower(btrim(word)) in (select lower(jsonb_array_elements_text($2::text::jsonb)))
     order by term limit 1`,
    [name, JSON.stringify(words.map(storableText))],
  )
  if (taken !== undefined)
    throw new Fault(
      'conflict',
      `${JSON.stringify(taken.word)} is a word of the term ${taken.term} already. A word has one meaning.`,
    )
}

/** What names a term: metrics that are not retired, dimensions and narrower terms, as in a sentence. */
export async function usesOfTerm(tx: Tx, name: string): Promise<readonly string[]> {
  const rows = await tx.query<{ readonly used: string }>(
    `select distinct 'the metric ' || metric as used from svc.metric_version
       where tenant_id = svc.current_tenant() and state <> 'retired' and definition ->> 'term' = $1
     union all
     select 'the dimension ' || (d ->> 'name') || ' of ' || array_to_string(array(select
         jsonb_array_elements_text(m.definition -> 'table' -> 'namespace')), '.') || '.' || (m.definition -> 'table' ->> 'name')
       from (select distinct on (table_id) table_id, definition from svc.table_model
        where tenant_id = svc.current_tenant() order by table_id, number desc) m,
       jsonb_array_elements(m.definition -> 'dimensions') d where d ->> 'term' = $1
     union all
     select 'the term ' || term from ${termsInForce} t where definition ->> 'broader' = $1
     order by used limit 20`,
    [name],
  )
  return rows.map(({ used }) => used)
}
