/** Declares the operations by which contracts are kept in a repository: the list of contracts, and proposals of several. */

import type { Static } from '@sinclair/typebox'
import { Fault } from '../../base/fault.ts'
import { parseJson } from '../../base/json.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pageRequest } from '../../http/page-view.ts'
import { readBodyOf } from '../../http/read-body.ts'
import { type ReadableSchema, readValue } from '../../http/read-value.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableIdentifier,
  text,
} from '../../http/schemas.ts'
import { documentFormats } from '../../wire/odcs/read-document.ts'
import type { DocumentCodec } from '../document/document-codec.ts'
import { readContractDocument } from '../document/read.ts'
import { versionSchema, versionSummary } from '../lifecycle/operations.ts'
import { showVersion } from '../lifecycle/show-version.ts'
import { changeOf, contractsPath, operation, overseeing } from '../parts.ts'
import { listContractOverviews } from './list-contracts.ts'
import { ofContract, proposeDocuments, type WantedDocument } from './propose-documents.ts'

/** Bytes of a request that proposes documents. */
const contractProposalsBytesMax = 16 * 1024 * 1024

/** Documents that are proposed together. */
const contractProposalsMax = 500

const tag = 'contracts'
const seen = {
  id: nonEmpty,
  revision: maybe(described(text, 'as the list of contracts has it; absent where that has none')),
}
const proposals = object({
  managed_by: described(nonEmpty, 'who keeps the documents, such as the name of a repository'),
  documents: list(
    object({
      ...seen,
      format: oneOf(documentFormats),
      document: described(nonEmpty, 'the text, YAML or JSON'),
      sha256: described(nonEmpty, 'of the text in UTF-8'),
    }),
    { maxItems: contractProposalsMax },
  ),
  deprecate: maybe(list(object({ ...seen, reason: nonEmpty }), { maxItems: contractProposalsMax })),
})
type Given = Static<typeof proposals>

export const gitOperations = [
  operation({
    name: 'list_contract_documents',
    tag,
    summary:
      'The contracts by id, with versions in force and on their way, and what was changed outside of documents',
    method: 'GET',
    path: `${contractsPath}/documents`,
    access: overseeing,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object(pageInput),
    output: pageOf(
      object({
        id: text,
        revision: maybe(described(text, 'differs after every version and move; absent without versions')),
        managed_by: maybe(described(text, 'who keeps its documents outside the service')),
        versions: described(
          list(object(versionSummary)),
          'on their way or in force, and the newest one; newest first',
        ),
        tables: described(list(tableIdentifier), 'under the contract now'),
        outside_changes: described(
          list(text),
          'where row filters, masks and pins are not as the document in force says',
        ),
      }),
    ),
    run: ({ parts, caller }, page) => listContractOverviews(parts.store, caller.tenant, pageRequest(page)),
  }),
  operation({
    name: 'propose_contract_documents',
    tag,
    summary: 'Proposes documents of several contracts, and deprecates others: all or none',
    method: 'POST',
    path: `${contractsPath}/proposals`,
    // The guard of each move says who may make it.
    access: { scope: 'admin', capability: 'contracts' },
    gives: { visible: ['existence', 'description', 'columns'] },
    input: proposals,
    output: object({ versions: list(versionSchema) }),
    status: 200,
    faults: {
      conflict: 'A contract has moved since its revision was read, or a table is under another contract.',
      forbidden: 'Deprecating takes the role steward.',
      unprocessable: 'A document is refused; see `error.contract` and `error.problems`.',
      payload_too_large: `The body is larger than ${contractProposalsBytesMax} bytes.`,
    },
    respond: async (context) => {
      const { parts, caller, request, again } = context
      const { bytes } = await readBodyOf(request, contractProposalsBytesMax, again)
      const given = readValue(proposals as ReadableSchema, parseJson(bytes), '') as Given
      const documents: WantedDocument[] = []
      for (const one of given.documents) documents.push(await readWanted(parts.codec, caller.tenant, one))
      const named = await proposeDocuments(parts, await changeOf(context), {
        managedBy: given.managed_by,
        documents,
        deprecate: (given.deprecate ?? []).map(({ id, ...rest }) => ({ ...rest, contract: id })),
      })
      const versions = []
      for (const name of named) versions.push(await showVersion(parts, caller.tenant, name))
      return Response.json({ versions })
    },
  }),
]

/** Reads one of the documents. @throws Fault that names its contract */
async function readWanted(
  codec: DocumentCodec,
  tenant: TenantId,
  { id, revision, format, document, sha256 }: Given['documents'][number],
): Promise<WantedDocument> {
  const bytes = new TextEncoder().encode(document)
  try {
    if (new Bun.CryptoHasher('sha256').update(bytes).digest('hex') !== sha256)
      throw new Fault('bad_request', 'The document does not have the SHA-256 that is given.')
    const read = await readContractDocument(codec, tenant, id, { kind: 'read', bytes, format })
    return { contract: id, revision, format, sha256, read }
  } catch (thrown) {
    throw ofContract(id, thrown)
  }
}
