/** Commands that import and export the semantic layer in formats of others, and those on the glossary, which need a service. */

import { interchangeFormats } from '../semantics/interchange/draft.ts'
import { type Command, onTenant, requireService } from './command.ts'
import type { Flags } from './flags.ts'

export const semanticsCommands: readonly Command[] = [
  {
    words: 'semantics import',
    usage: `--tenant ID --format ${interchangeFormats.join('|')} (--file FILE | --folder DIR) [--namespace ns] [--dry-run yes] [--replace yes]`,
    summary:
      'Imports dimensions and metrics from a document. FILE is its text; - is standard input. DIR holds the files of one project.',
    details:
      'It lists what cannot be carried and what changes. dbt names no namespaces, so --namespace is needed there. Metrics of the same name over other tables are replaced with --replace yes only.',
    fields: ['metrics', 'tables', 'changes', 'not_carried', 'not_carried_count'],
    async prepare(flags) {
      const input = {
        format: flags.requiredChoice('format', interchangeFormats),
        ...(await documentsOf(flags)),
        namespace: flags.optional('namespace')?.split('.'),
        dry_run: flags.choice('dry-run', ['yes', 'no']) === 'yes',
        replace: flags.choice('replace', ['yes', 'no']) === 'yes',
      }
      return onTenant(flags, { own: 'import_semantics', admin: 'import_tenant_semantics' }, input)
    },
  },
  {
    words: 'semantics export',
    usage: '--tenant ID [--format ossie|odcs] [--name NAME]',
    summary: 'Exports dimensions and metrics as a document of Apache Ossie 0.1.1 or ODCS 3.2.',
    fields: ['document', 'not_carried', 'not_carried_count'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'export_semantics', admin: 'export_tenant_semantics' },
        { format: flags.choice('format', ['ossie', 'odcs']), name: flags.optional('name') },
      ),
  },
  {
    words: 'glossary list',
    usage: '[--query WORDS]',
    summary: 'Lists the terms of the glossary, by name; those of a question best first.',
    prepare(flags) {
      requireService(flags)
      return {
        operation: 'list_terms',
        input: { query: flags.optional('query'), limit: 1000 },
        everyItem: true,
      }
    },
  },
  {
    words: 'glossary remove',
    usage: '--term TERM',
    summary: 'Removes a term that no metric, dimension or narrower term names.',
    prepare(flags) {
      requireService(flags)
      return { operation: 'delete_term', input: { term: flags.required('term') } }
    },
  },
]

/** One document, or those of a folder, which are one import. */
async function documentsOf(flags: Flags) {
  if (flags.optional('folder') === undefined) return { document: await flags.file('file') }
  const files = await flags.folder('folder')
  const documents = files.map(({ path, text }) => ({ name: path, document: text }))
  return { documents: documents.filter(({ document }) => document.trim() !== '') }
}
