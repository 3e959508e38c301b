/** Declares the operations on glossary terms. */

import { Fault } from '../base/fault.ts'
import type { GlossaryTerm } from '../core/metric.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  ordinal,
  pageInput,
  pageOf,
  text,
} from '../http/schemas.ts'
import { findTerm, listTerms, removeTerm, saveTerm } from '../store/semantics/terms.ts'
import { metricName, prose } from './model-operations.ts'
import { browsing, changeOf, modelling, operation } from './parts.ts'
import { searchTerms } from './search-terms.ts'

const members = {
  definition: prose,
  synonyms: list(text, { maxItems: 50 }),
  owner: maybe(text),
  broader: maybe(described(metricName, 'the term of the wider concept')),
  links: list(text, { maxItems: 50 }),
}
const term = object({ name: text, version: ordinal, ...members })
const path = '/api/v1/glossary'
const common = { tag: 'semantics' } as const

export const glossaryOperations = [
  operation({
    ...common,
    name: 'put_term',
    summary: 'Defines a glossary term',
    method: 'PUT',
    path: `${path}/{term}`,
    access: modelling,
    gives: { nothing: 'own input' },
    input: object({
      term: metricName,
      ...members,
      synonyms: maybe(members.synonyms),
      links: maybe(members.links),
    }),
    output: term,
    faults: {
      conflict: 'Another term has one of its words.',
      unprocessable: 'The wider term is not there or leads back, or a word is there twice.',
    },
    run: async (context, { term: name, synonyms = [], links = [], ...given }) =>
      termView(await saveTerm(await changeOf(context), { name, synonyms, links, ...given })),
  }),
  operation({
    ...common,
    name: 'delete_term',
    summary: 'Removes a glossary term that nothing names',
    method: 'DELETE',
    path: `${path}/{term}`,
    access: modelling,
    gives: { nothing: 'own input' },
    input: object({ term: metricName }),
    faults: {
      not_found: 'There is no such term.',
      conflict: 'Metrics, dimensions or narrower terms name it.',
    },
    run: async (context, { term: name }) => await removeTerm(await changeOf(context), name),
  }),
  operation({
    ...common,
    name: 'show_term',
    summary: 'A glossary term',
    method: 'GET',
    path: `${path}/{term}`,
    access: browsing,
    gives: { visible: ['description'] },
    input: object({ term: metricName }),
    output: term,
    faults: { not_found: 'There is no such term.' },
    run: async ({ parts, caller }, { term: name }) => {
      const found = await findTerm(parts.store, caller.tenant, name)
      if (found === undefined) throw new Fault('not_found', 'There is no such term.')
      return termView(found)
    },
  }),
  operation({
    ...common,
    name: 'list_terms',
    summary: 'Glossary terms, by name; those of a question best first',
    method: 'GET',
    path,
    access: browsing,
    gives: { visible: ['description'] },
    input: object({
      query: maybe(described(nonEmpty, 'words to look for in names, synonyms and definitions')),
      ...pageInput,
    }),
    output: pageOf(term),
    run: async ({ parts: { store }, caller: { tenant } }, { query, ...input }) => {
      const page = pageRequest(input)
      return pageView(
        query === undefined
          ? await listTerms(store, tenant, page)
          : await searchTerms(store, tenant, query, page),
        termView,
      )
    },
  }),
]

function termView({ number: version, ...found }: GlossaryTerm) {
  return { ...found, version }
}
