/** Reads the words of a question, with what the glossary says means the same. */

import type { TenantId } from '../core/tenant.ts'
import type { AskedWord } from '../store/search/rank-texts.ts'
import { synonymsOf } from '../store/semantics/terms.ts'
import type { Store } from '../store/store.ts'

const wordsMax = 8
const synonymsMax = 20

/** The words of a question; two that together are a term of the glossary have its synonyms both. */
export async function askedWords(
  store: Store,
  tenant: TenantId,
  query: string | undefined,
): Promise<readonly AskedWord[]> {
  const words = [...new Set((query ?? '').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, wordsMax)
  if (words.length === 0) return []
  const pairs = words.flatMap((word, index) => {
    const next = words[index + 1]
    return next === undefined ? [] : [[word, next]]
  })
  const phrases = [...words.map((word) => [word]), ...pairs]
  const synonyms = await synonymsOf(
    store,
    tenant,
    phrases.map((phrase) => phrase.join(' ')),
  )
  return words.map((word) => ({
    word,
    synonyms: phrases
      .filter((phrase) => phrase.includes(word))
      .flatMap((phrase) => synonyms.get(phrase.join(' ')) ?? [])
      .slice(0, synonymsMax),
  }))
}
