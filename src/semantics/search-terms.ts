/** Finds glossary terms by the words of a question, best first. What a term is called counts more than its definition. */

import { Fault } from '../base/fault.ts'
import { askedWords } from '../contract/asked-words.ts'
import type { GlossaryTerm } from '../core/metric.ts'
import type { TenantId } from '../core/tenant.ts'
import { type Page, type PageRequest, pageLimit } from '../store/database/page.ts'
import { type PlacedText, rankTexts, wordsIn } from '../store/search/rank-texts.ts'
import { listTerms } from '../store/semantics/terms.ts'
import type { Store } from '../store/store.ts'

/** Terms that one search looks at, by name. */
const termsMax = 5_000
const pageTerms = 1_000

/**
 * One page of the terms in which a word was found: more words first, then better places.
 * @throws Fault `bad_request` for a bad page, and for a question without a word
 */
export async function searchTerms(
  store: Store,
  tenant: TenantId,
  query: string,
  page: PageRequest,
): Promise<Page<GlossaryTerm>> {
  const [limit, from] = [pageLimit(page), positionOf(page.after)]
  const words = await askedWords(store, tenant, query)
  if (words.length === 0) throw new Fault('bad_request', '`query` holds no word.')
  const terms: GlossaryTerm[] = []
  let next: string | undefined
  do {
    const found = await listTerms(store, tenant, {
      limit: pageTerms,
      ...(next !== undefined && { after: next }),
    })
    terms.push(...found.items)
    next = found.next
  } while (next !== undefined && terms.length < termsMax)
  const ranks = await rankTexts(store, tenant, terms.map(textsOf), words)
  const items = ranks.slice(from, from + limit).flatMap(({ index }) => terms[index] ?? [])
  return { items, ...(ranks.length > from + limit && { next: String(from + limit) }) }
}

function positionOf(after: string | undefined): number {
  if (after === undefined) return 0
  if (!/^\d{1,6}$/.test(after)) throw new Fault('bad_request', '`page_token` is not one of this search.')
  return Number(after)
}

function textsOf({ name, synonyms, definition, broader = '' }: GlossaryTerm): readonly PlacedText[] {
  return [
    { place: 'name', weight: 'A', text: wordsIn(name) },
    { place: 'synonym', weight: 'A', text: synonyms.join('\n') },
    { place: 'broader', weight: 'C', text: wordsIn(broader) },
    { place: 'definition', weight: 'D', text: definition },
  ]
}
