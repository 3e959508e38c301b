/** Declares the operations on contract documents of the Open Data Contract Standard, and serves our extension of it. */

import type { RawContext, SessionAccess } from '../../core/operation.ts'
import { readBodyOf } from '../../http/read-body.ts'
import {
  anyObject,
  described,
  flag,
  list,
  maybe,
  object,
  oneOf,
  ordinal,
  text,
  time,
} from '../../http/schemas.ts'
import { limits } from '../../limits.ts'
import { readClassificationTags } from '../../store/contract/classification-tags.ts'
import type { RunQuery } from '../../store/contract/versions.ts'
import { writtenApiVersions } from '../../wire/odcs/api-versions.ts'
import type { ReadDocument } from '../../wire/odcs/document-task.ts'
import covenantSchema from '../../wire/odcs/schemas/covenant.schema.json' with { type: 'json' }
import type { ChangeContext } from '../change.ts'
import { commitRulesOf, commitRulesSchema } from '../commit/commit-rules.ts'
import {
  type ContractParts,
  changeOf,
  changing,
  contractsPath,
  operation,
  orNotFound,
  overseeing,
  reading,
} from '../parts.ts'
import { compareDocument, comparisonSchema } from './compare-document.ts'
import { deleteDocument } from './delete-document.ts'
import { documentWarnings } from './document-warnings.ts'
import { editedDocument, exportDocument } from './export-document.ts'
import { fieldSchema, fieldView } from './field-view.ts'
import { type PutVersion, putDocument } from './put-document.ts'
import { contentTypes, formatOfBody, idOf, readContractDocument } from './read.ts'
import { readEdits } from './read-edits.ts'

export const documentPath = `${contractsPath}/documents/{id}` as const
const tag = 'contracts'
const yamlOrJson = Object.values(contentTypes)

const imported = object({
  id: text,
  number: described(ordinal, 'rises by one with each version'),
  version: described(text, 'as the document says'),
  api_version: text,
  sha256: text,
  state: text,
  unverified: described(flag, 'whether it is in force without checks'),
  fields: list(fieldSchema),
  commits: commitRulesSchema,
  warnings: described(
    list(text),
    'of row filters and masks that are hardly meant; they are saved all the same',
  ),
})
const malformed = {
  bad_request: 'The content type or a header is missing or malformed.',
  unprocessable:
    'The document is refused, or cannot be put in force; see `error.problems` for lines and columns.',
  payload_too_large: `The document is larger than ${limits.contractDocumentBytesMax} bytes.`,
  conflict: 'Another document is in force meanwhile, or another contract governs a table.',
}

type Context = RawContext<ContractParts, SessionAccess>

export const documentOperations = [
  operation({
    name: 'get_contract_document',
    tag,
    summary:
      'The document of a contract’s version in force, now or at a time: its bytes as received, unless another form is asked for',
    method: 'GET',
    path: documentPath,
    // A document holds the text of row filters, which readers do not see.
    access: overseeing,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object({
      id: text,
      apiVersion: maybe(described(oneOf(writtenApiVersions), 'default: the document’s own')),
      as_of: maybe(described(time, 'the document that was in force at this time; default: now')),
    }),
    headers: { Accept: { description: 'application/yaml or application/json; default: as received' } },
    media: { response: yamlOrJson },
    status: 200,
    faults: {
      not_found: 'The contract has no document, or none was in force at that time.',
      not_acceptable: 'The document cannot be had in that format.',
      unprocessable: 'That version of the standard has no word for a field; see `error.problems`.',
    },
    respond: ({ parts, caller, request }) =>
      exportDocument(parts, caller.tenant, idOf(request, documentPath), request),
  }),
  operation({
    name: 'put_contract_document',
    tag,
    summary: 'Imports a document and puts it in force at once, without life cycle and checks',
    method: 'PUT',
    path: documentPath,
    access: changing,
    gives: { overseen: ['description', 'columns'] },
    input: object({ id: text }),
    media: { request: yamlOrJson },
    output: imported,
    faults: malformed,
    respond: async (context) => {
      const { parts, caller, request } = context
      const format = formatOfBody(request)
      const bytes = await bodyOf(context)
      const id = idOf(request, documentPath)
      const task = { kind: 'read', bytes, format } as const
      const read = await readContractDocument(parts.codec, caller.tenant, id, task)
      const on = await changeOf(context)
      const put = await putDocument(parts, on, { read, format, action: 'put-contract-document' })
      return Response.json(await importView(parts, on, read, put))
    },
  }),
  operation({
    name: 'edit_contract_document',
    tag,
    summary: 'Changes single paths of the document in force, by JSON Patch, and puts the result in force',
    method: 'PATCH',
    path: documentPath,
    access: changing,
    gives: { overseen: ['description', 'columns'] },
    input: object({ id: text }),
    headers: {
      'If-Match': { description: 'the ETag of the document that the patch was made for', required: true },
    },
    media: { request: ['application/json-patch+json'] },
    output: imported,
    faults: { ...malformed, not_found: 'The contract has no document.' },
    respond: async (context) => {
      const { parts, request } = context
      const id = idOf(request, documentPath)
      const { edits, editedFrom } = readEdits(request, await bodyOf(context))
      const on = await changeOf(context)
      const { read, format } = await editedDocument(parts, on, { id, edits, editedFrom })
      const put = { read, format, action: 'edit-contract-document', editedFrom } as const
      const version = await putDocument(parts, on, put)
      return Response.json(await importView(parts, on, read, version))
    },
  }),
  operation({
    name: 'compare_contract_document',
    tag,
    summary:
      'Says what a document would change, for whom it would break, and how its version must move; stores nothing',
    method: 'POST',
    path: `${documentPath}/compare`,
    access: overseeing,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object({ id: text }),
    media: { request: yamlOrJson },
    output: comparisonSchema,
    faults: malformed,
    respond: async (context) => {
      const { parts, caller, request } = context
      const format = formatOfBody(request)
      const bytes = await bodyOf(context)
      const id = idOf(request, `${documentPath}/compare`)
      const task = { kind: 'read', bytes, format } as const
      const { model } = await readContractDocument(parts.codec, caller.tenant, id, task)
      return Response.json(await compareDocument(parts, caller.tenant, model))
    },
  }),
  operation({
    name: 'delete_contract_document',
    tag,
    summary: 'Ends the contract on all its tables; filters, masks and tags stay',
    method: 'DELETE',
    path: documentPath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({ id: text }),
    faults: { not_found: 'The contract has no document in force.' },
    run: async (context, { id }) => await orNotFound(deleteDocument(await changeOf(context), id)),
  }),
  operation({
    name: 'get_document_extension',
    tag,
    summary: 'The JSON Schema of the custom property `covenant` in documents',
    method: 'GET',
    path: `${contractsPath}/document-extension`,
    access: reading,
    gives: { nothing: 'service' },
    output: anyObject,
    run: async () => covenantSchema,
  }),
]

async function bodyOf({ request, again }: Context): Promise<Uint8Array> {
  return (await readBodyOf(request, limits.contractDocumentBytesMax, again)).bytes
}

async function importView(
  { clock }: Pick<ContractParts, 'clock'>,
  on: ChangeContext,
  { model, fields }: ReadDocument,
  { number, sha256, state, unverified }: PutVersion,
) {
  const run: RunQuery = (statement, params) => on.store.tenantQuery(on.tenant, statement, params)
  const [commits, warnings, map] = await Promise.all([
    commitRulesOf(run, model, clock.now()),
    documentWarnings(on, model),
    readClassificationTags(run, on.tenant),
  ])
  const { id, version, apiVersion: api_version } = model
  return {
    id,
    number,
    version,
    api_version,
    sha256,
    state,
    unverified,
    fields: fields.map((one) => fieldView(one, model, map)),
    commits,
    warnings,
  }
}
