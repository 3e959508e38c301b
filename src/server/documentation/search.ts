/**
 * Finds words in the sections of the documentation. The index is built when it is first asked, a few sections at a
 * time, so that nothing else of the process waits for it.
 */

import MiniSearch from 'minisearch'
import { textOfHtml } from './html.ts'
import type { Documentation } from './pages.ts'

const resultsMax = 20
const wordsMax = 8
const excerptLength = 220
/** Sections that are indexed before others of the process have their turn. */
const sectionsAtOnce = 10

interface Section {
  /** The page with the anchor of the heading: `gateway.md#refusals`. */
  readonly id: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

export interface Found {
  readonly href: string
  readonly page: string
  readonly heading: string
  readonly excerpt: string
}

interface DocumentationSearch {
  /** The sections that hold all words, else those that hold some; the best first, at most 20. */
  find(question: string): Promise<readonly Found[]>
}

/** @param documentation the pages that are searched */
export function searchDocumentation(documentation: Documentation): DocumentationSearch {
  let index: Promise<MiniSearch<Section>> | undefined
  return {
    async find(question) {
      const words = question.split(/\s+/).filter(Boolean).slice(0, wordsMax)
      if (words.length === 0) return []
      index ??= build(documentation)
      const built = await index
      const text = words.join(' ')
      const all = built.search(text, { combineWith: 'AND' })
      const found = all.length > 0 ? all : built.search(text)
      return found.slice(0, resultsMax).map((result) => ({
        href: result.id as string,
        page: result.page as string,
        heading: result.heading as string,
        excerpt: excerptOf(result.text as string, result.queryTerms, result.terms),
      }))
    },
  }
}

async function build(documentation: Documentation): Promise<MiniSearch<Section>> {
  const index = new MiniSearch<Section>({
    fields: ['heading', 'page', 'text'],
    storeFields: ['page', 'heading', 'text'],
    searchOptions: {
      boost: { heading: 3, page: 2 },
      prefix: (word) => word.length > 2,
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
    },
  })
  for (const path of documentation.pages) {
    const sections = sectionsOf(path, documentation)
    await index.addAllAsync(sections, { chunkSize: sectionsAtOnce })
  }
  return index
}

function sectionsOf(path: string, documentation: Documentation): readonly Section[] {
  const { title, body } = documentation.page(path)
  return body.split(/(?=<h[1-4] id=")/).flatMap((html): Section[] => {
    const [whole, anchor = '', heading = ''] = /^<h[1-4] id="([^"]*)">(.*?)<\/h[1-4]>/s.exec(html) ?? []
    const text = textOfHtml(whole === undefined ? html : html.slice(whole.length))
    if (whole === undefined && text === '') return []
    const id = anchor === '' ? path : `${path}#${anchor}`
    return [{ id, page: title, heading: heading === '' ? title : textOfHtml(heading), text }]
  })
}

/** A part of the text that begins a little before the first word that was found. */
function excerptOf(text: string, asked: readonly string[], met: readonly string[]): string {
  const lower = text.toLowerCase()
  const places = [...asked, ...met].map((word) => lower.indexOf(word)).filter((place) => place >= 0)
  const from = Math.max(0, (places[0] ?? 0) - 60)
  const begin = from === 0 ? 0 : lower.indexOf(' ', from) + 1
  const part = text.slice(begin, begin + excerptLength)
  return `${begin > 0 ? '… ' : ''}${part}${begin + excerptLength < text.length ? ' …' : ''}`
}
