/** Declares the operations by which tables that exist in a catalog come under contract: what there is, and proposals. */

import {
  addressed,
  described,
  list,
  maybe,
  nonEmpty,
  object,
  pageInput,
  pageMembers,
  tableAddress,
  tableIdentifier,
  text,
  wholeNumber,
} from '../../http/schemas.ts'
import { contractsPath, operation, overseeing } from '../parts.ts'
import { listCatalogNamespaces, listCatalogTables } from './list-catalog.ts'
import { proposeTableDocument } from './propose-document.ts'

const tag = 'contracts'
const catalogPath = `${contractsPath}/catalogs/{catalog}` as const
const catalog = { catalog: described(nonEmpty, 'its nickname') }
const levels = (description: string) => described(list(nonEmpty, { minItems: 1 }), description)
const unusable = {
  unusable: maybe(
    described(list(list(text)), 'names on the page that the service cannot address, by their levels'),
  ),
}
const faults = {
  bad_request: 'The `page_token` is none of this listing.',
  not_found: 'There is no such catalog, or it has no such namespace.',
  upstream_failed: 'The catalog did not answer.',
}

export const adoptOperations = [
  operation({
    name: 'list_catalog_namespaces',
    tag,
    summary: 'The namespaces that a catalog has below a parent, asked of the catalog',
    method: 'GET',
    path: `${catalogPath}/namespaces`,
    access: overseeing,
    gives: { overseen: ['existence'] },
    input: object({
      ...catalog,
      parent: maybe(levels('its levels joined by %1F; absent: the top')),
      ...pageInput,
    }),
    output: object({ ...pageMembers(object({ namespace: list(text) })), ...unusable }),
    faults,
    run: ({ parts, caller }, input) => listCatalogNamespaces(parts, caller.tenant, input),
  }),
  operation({
    name: 'list_catalog_tables',
    tag,
    summary: 'The tables of a namespace, asked of the catalog, each with the contract that it is under',
    method: 'GET',
    path: `${catalogPath}/namespaces/{namespace}/tables`,
    access: overseeing,
    gives: { overseen: ['existence', 'description'] },
    input: object({ ...catalog, namespace: tableAddress.namespace, ...pageInput }),
    output: object({
      ...pageMembers(
        object({ table: tableIdentifier, contract: maybe(described(text, 'absent where it has none')) }),
      ),
      ...unusable,
    }),
    faults,
    run: ({ parts, caller }, input) => listCatalogTables(parts, caller.tenant, input),
  }),
  operation({
    name: 'propose_table_document',
    tag,
    summary:
      'Proposes a contract document for a table: types, comments and keys of its catalog, tags, and masks by tag; saves nothing',
    method: 'GET',
    path: `${catalogPath}/tables/{namespace}/{table}/proposal`,
    access: overseeing,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object({ ...catalog, ...tableAddress }),
    output: object({
      contract: described(text, 'the id in the document'),
      document: described(text, 'YAML'),
      columns: wholeNumber,
      masks: described(wholeNumber, 'that the document has by tags'),
    }),
    faults: {
      not_found: 'There is no such catalog, or it has no such table.',
      upstream_failed: 'The catalog did not answer.',
      unprocessable: 'The standard has no words for what the table has; see `error.problems`.',
    },
    run: ({ parts, caller }, { catalog: nickname, ...address }) =>
      proposeTableDocument(parts, caller.tenant, nickname, addressed(address)),
  }),
]
