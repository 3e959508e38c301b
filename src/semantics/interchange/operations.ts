/** Declares the operations that import and export the semantic layer in formats of others. */

import { Type } from '@sinclair/typebox'
import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import { tableKey } from '../../core/table-ref.ts'
import {
  anyObject,
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  tableIdentifier,
  text,
  wholeNumber,
} from '../../http/schemas.ts'
import { loadDocuments } from '../../store/semantics/documents.ts'
import type { Store } from '../../store/store.ts'
import { semanticBounds } from '../bounds.ts'
import { browsing, modelling } from '../parts.ts'
import { applyImport, type ImportResult } from './apply-import.ts'
import type { InterchangeCodec } from './codec.ts'
import { interchangeFormats, type NotCarried, withoutRepeated } from './draft.ts'
import { loadLayer } from './layer.ts'
import { assertNoneReplaced, type ImportChange, planImport } from './plan-import.ts'
import { writeOdcs } from './write-odcs.ts'
import { writeOssie } from './write-ossie.ts'

const notCarried = {
  not_carried: described(
    list(object({ at: described(text, 'JSON Pointer into the document, or what is exported'), why: text })),
    'what has no place on the other side',
  ),
  not_carried_count: described(wholeNumber, 'of all; at most 1,000 are listed'),
}
const change = object({
  metric: maybe(text),
  table: maybe(described(tableIdentifier, 'whose dimensions change')),
  change: described(oneOf(['added', 'changed', 'replaced']), '`replaced`: over other tables from then on'),
  before: maybe(described(list(tableIdentifier), 'tables of a metric that is replaced')),
  after: maybe(list(tableIdentifier)),
  removes: maybe(described(list(text), 'dimensions and relationships that the table no longer has')),
})
const pair = tenantOperationsOf<{ readonly store: Store; readonly interchange: InterchangeCodec }>()
const tag = 'semantics'
const documentText = Type.String({ minLength: 1, maxLength: semanticBounds.documentCharsMax })

function lostView(lost: readonly NotCarried[]) {
  return {
    not_carried: lost.slice(0, semanticBounds.notCarriedMax).map(({ at, why }) => ({ at, why })),
    not_carried_count: lost.length,
  }
}

export const interchangeOperations = [
  pair({
    name: 'import_semantics',
    tag,
    summary: 'Imports dimensions and metrics from a document of another format',
    description:
      'Apache Ossie 0.1.1 and its draft 0.2, dbt semantic models (MetricFlow), or measures and dimensions of ODCS 3.2. Each table and metric is saved as its own next version, unless it is so already. What cannot be carried is listed, and so is what changes. A metric that is over other tables from then on is 409, unless `replace` is true.',
    method: 'POST',
    path: '/semantics/imports',
    access: modelling,
    gives: { nothing: 'own input' },
    input: {
      format: oneOf(interchangeFormats),
      document: maybe(described(documentText, 'YAML or JSON; YAML may hold several documents')),
      documents: maybe(
        described(
          list(object({ name: nonEmpty, document: documentText }), {
            minItems: 1,
            maxItems: semanticBounds.documentsMax,
          }),
          'the files of one project in place of `document`, by their names',
        ),
      ),
      namespace: maybe(
        described(
          list(nonEmpty, { minItems: 1, maxItems: 20 }),
          'of every table; needed for dbt, which names none',
        ),
      ),
      dry_run: maybe(described(flag, 'reads the document and saves nothing')),
      replace: maybe(described(flag, 'also metrics that are over other tables now')),
    },
    output: object({
      tables: list(tableIdentifier),
      metrics: list(text),
      changes: list(change),
      ...notCarried,
    }),
    status: 200,
    faults: {
      conflict: 'A metric of that name is over other tables; the message and `error.replaces` name each.',
      unprocessable: 'The document cannot be read; `error.problems` says where.',
    },
    run: async (
      { parts, tenant, actor },
      { format, document, documents, namespace, dry_run: dryRun = false, replace = false },
    ) => {
      const draft = withoutRepeated(
        await parts.interchange.read(tenant, { format, files: filesOf(document, documents), namespace }),
      )
      const on = { store: parts.store, tenant, actor: await actor() }
      const changes = await planImport(on, draft)
      if (!replace && !dryRun) assertNoneReplaced(changes)
      const done: ImportResult = dryRun
        ? {
            tables: draft.tables.map(({ table }) => table),
            metrics: draft.metrics.map(({ name }) => name),
            notCarried: draft.notCarried,
          }
        : await applyImport(on, draft)
      return {
        tables: done.tables.map(tableView),
        metrics: done.metrics,
        changes: changesOf(done, changes),
        ...lostView(done.notCarried),
      }
    },
  }),
  pair({
    name: 'export_semantics',
    tag,
    summary: 'Exports dimensions and metrics as a document of another format',
    method: 'GET',
    path: '/semantics/export',
    access: browsing,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: {
      format: maybe(described(oneOf(['ossie', 'odcs']), 'default `ossie`')),
      name: maybe(
        described(Type.String({ minLength: 1, maxLength: 255 }), 'of the semantic model; default `covenant`'),
      ),
    },
    output: object({ document: anyObject, ...notCarried }),
    run: async ({ parts: { store }, tenant }, { format = 'ossie', name }) => {
      const layer = await loadLayer(store, tenant)
      if (format === 'odcs') {
        const written = writeOdcs(layer, name ?? 'covenant')
        return { document: written.document, ...lostView(written.notCarried) }
      }
      const kept = await loadDocuments(store, tenant)
      const [sole, ...more] = kept
      const own = name ?? (more.length === 0 ? sole?.name : undefined) ?? 'covenant'
      const written = writeOssie(
        layer,
        own,
        kept.map(({ json }) => json),
      )
      return { document: written.document, ...lostView(written.notCarried) }
    },
  }),
].flat()

/** @throws Fault `bad_request` unless one of both is given, of a size that is read at once */
function filesOf(
  document: string | undefined,
  documents: readonly { readonly name: string; readonly document: string }[] | undefined,
) {
  if ((document === undefined) === (documents === undefined))
    throw new Fault('bad_request', 'Give `document`, or the list `documents`, one of both.')
  const files = documents?.map(({ name, document: text }) => ({ name, text })) ?? [
    { name: '', text: document ?? '' },
  ]
  const names = files.map(({ name }) => name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new Fault('bad_request', `Two documents are called ${repeated}.`)
  const size = files.reduce((sum, { text }) => sum + text.length, 0)
  if (size > semanticBounds.documentCharsMax)
    throw new Fault(
      'bad_request',
      `The documents are longer than ${semanticBounds.documentCharsMax} characters together.`,
    )
  return files
}

/** The changes of what was carried. */
function changesOf({ tables, metrics }: ImportResult, changes: readonly ImportChange[]) {
  const carried = new Set(tables.map(tableKey))
  return changes
    .filter(({ metric, table }) => (table ? carried.has(tableKey(table)) : metrics.includes(metric ?? '')))
    .map(({ table, before, after, removes, ...rest }) => ({
      ...rest,
      ...(table && { table: tableView(table) }),
      ...(before && { before: before.map(tableView) }),
      ...(after && { after: after.map(tableView) }),
      ...(removes && { removes: [...removes] }),
    }))
}

const tableView = ({ namespace, name }: ImportResult['tables'][number]) => ({
  namespace: [...namespace],
  name,
})
