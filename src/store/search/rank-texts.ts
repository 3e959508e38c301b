/**
 * Ranks texts by the words of a question, with PostgreSQL's text search: stems of English, beginnings of words, and synonyms.
 * The texts come with the call, because what of a table or metric counts depends on who asks. It stores nothing.
 */

import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import type { Store } from '../store.ts'

/** The weights of text search, from a name down to prose. */
type Weight = 'A' | 'B' | 'C' | 'D'

/** A text of one place, such as a table's name. */
export interface PlacedText {
  readonly place: string
  readonly weight: Weight
  readonly text: string
}

/** A word of the question, and what may stand for it. */
export interface AskedWord {
  readonly word: string
  readonly synonyms: readonly string[]
}

export interface Rank {
  /** The index of the texts in what was given. */
  readonly index: number
  /** Words of the question that were found. */
  readonly words: number
  readonly places: readonly string[]
}

interface RankRow {
  readonly index: number
  readonly words: number
  readonly places: readonly number[]
}

/** A name's parts as words: text search takes `sales.orders` for a host, and `orderDate` for one word. */
export function wordsIn(name: string): string {
  return name.replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').replace(/[^\p{L}\p{N}]+/gu, ' ')
}

/**
 * Those of several documents in which a word was found: more words first, then better places.
 * @param documents each the texts of one thing; names as {@link wordsIn} writes them
 */
export async function rankTexts(
  store: Store,
  tenant: TenantId,
  documents: readonly (readonly PlacedText[])[],
  asked: readonly AskedWord[],
): Promise<readonly Rank[]> {
  if (documents.length === 0 || asked.length === 0) return []
  const texts = documents.map((document) => document.map(({ weight, text }) => [weight, storableText(text)]))
  const words = asked.map(({ word, synonyms }) => [word, ...synonyms].map(storableText))
  const rows = await store.tenantQuery<RankRow>(tenant, rankText, [
    JSON.stringify(texts),
    JSON.stringify(words),
  ])
  return rows.map(({ index, words: found, places }) => ({
    index,
    words: found,
    places: [...new Set(places.map((place) => documents[index]?.[place]?.place ?? ''))],
  }))
}

/** A word's own letters may end differently; a synonym is a phrase. */
const rankText = `
  with asked as materialized (
    select w.no, lower(w.word ->> 0) as word,
      (select coalesce(string_agg(q.each::text, ' | '), '')::tsquery from (
        select to_tsquery('english', quote_literal(a.text) || ':*') as each
        from jsonb_array_elements_text(w.word) with ordinality a(text, at) where a.at = 1
        union all
        select phraseto_tsquery('english', a.text) from jsonb_array_elements_text(w.word) with ordinality a(text, at) where a.at > 1
      ) q where numnode(q.each) > 0) as query
    from jsonb_array_elements($2::text::jsonb) with ordinality w(word, no)
  ), places as (
    select d.no, t.at, lower(t.text ->> 1) as text, setweight(to_tsvector('english', t.text ->> 1), (t.text ->> 0)::"char") as vector
    from jsonb_array_elements($1::text::jsonb) with ordinality d(texts, no),
      jsonb_array_elements(d.texts) with ordinality t(text, at)
  ), hits as (
    select p.no, p.at, a.no as word, ts_rank(p.vector, a.query) as rank
    from places p, asked a
    where p.vector @@ a.query or (length(a.word) > 2 and strpos(p.text, a.word) > 0)
  )
  select (no - 1)::int as index, count(distinct word)::int as words, jsonb_agg(distinct (at - 1)::int) as places
  from hits group by no
  order by count(distinct word) desc, sum(rank) desc, no`
