/** Declares the operations that import and export the semantic layer in formats of others. */

import { Type } from '@sinclair/typebox'
import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
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
import { interchangeFormats, type NotCarried } from './draft.ts'
import { loadLayer } from './layer.ts'
import { writeOdcs } from './write-odcs.ts'
import { writeOssie } from './write-ossie.ts'

const notCarried = {
  not_carried: described(
    list(object({ at: described(text, 'JSON Pointer into the document, or what is exported'), why: text })),
    'what has no place on the other side',
  ),
  not_carried_count: described(wholeNumber, 'of all; at most 1,000 are listed'),
}
const pair = tenantOperationsOf<{ readonly store: Store; readonly interchange: InterchangeCodec }>()
const tag = 'semantics'

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
      'Apache Ossie 0.1.1, dbt semantic models (MetricFlow), or measures and dimensions of ODCS 3.2. Each table and metric is saved as its own next version, unless it is so already. What cannot be carried is listed.',
    method: 'POST',
    path: '/semantics/imports',
    access: modelling,
    gives: { nothing: 'own input' },
    input: {
      format: oneOf(interchangeFormats),
      document: described(
        Type.String({ minLength: 1, maxLength: semanticBounds.documentCharsMax }),
        'YAML or JSON',
      ),
      namespace: maybe(
        described(
          list(nonEmpty, { minItems: 1, maxItems: 20 }),
          'of every table; needed for dbt, which names none',
        ),
      ),
      dry_run: maybe(described(flag, 'reads the document and saves nothing')),
    },
    output: object({ tables: list(tableIdentifier), metrics: list(text), ...notCarried }),
    status: 200,
    faults: { unprocessable: 'The document cannot be read; `error.problems` says where.' },
    run: async ({ parts, tenant, actor }, { format, document, namespace, dry_run: dryRun = false }) => {
      const draft = await parts.interchange.read(tenant, { format, text: document, namespace })
      const done: ImportResult = dryRun
        ? {
            tables: draft.tables.map(({ table }) => table),
            metrics: draft.metrics.map(({ name }) => name),
            notCarried: draft.notCarried,
          }
        : await applyImport({ store: parts.store, tenant, actor: await actor() }, draft)
      return { tables: done.tables.map(tableView), metrics: done.metrics, ...lostView(done.notCarried) }
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

const tableView = ({ namespace, name }: ImportResult['tables'][number]) => ({
  namespace: [...namespace],
  name,
})
