/** Sends the document of a contract's version in force, as received or converted, and reads it for an edit. */

import { Fault } from '../../base/fault.ts'
import { parseRfc3339 } from '../../base/rfc3339.ts'
import type { TenantId } from '../../core/tenant.ts'
import { readOverviews } from '../../store/contract/contract-overview.ts'
import { termAt } from '../../store/contract/in-force.ts'
import {
  type ContractVersion,
  documentOf,
  type RunQuery,
  versionInForce,
} from '../../store/contract/versions.ts'
import { loadDeclaredSchema } from '../../store/governance/declared-schema.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import type { Store } from '../../store/store.ts'
import { apiVersions, writtenApiVersions } from '../../wire/odcs/api-versions.ts'
import type { ReadDocument } from '../../wire/odcs/document-task.ts'
import { type DocumentEdit, toYamlText } from '../../wire/odcs/edit-document.ts'
import type { DocumentFormat } from '../../wire/odcs/read-document.ts'
import type { ChangeContext } from '../change.ts'
import { requirePast, stateAt } from '../in-force-operations.ts'
import type { DocumentCodec } from './document-codec.ts'
import { type MadeTable, makeDocument } from './make-document.ts'
import { acceptedFormat, contentTypes, convertContractDocument, readContractDocument } from './read.ts'

interface ExportParts {
  readonly store: Store
  readonly codec: DocumentCodec
}

/**
 * The document in force, now or at the time that the request names as `as_of`. Its ETag is the SHA-256 of the stored bytes where those are sent.
 * @throws Fault `not_found`, `not_acceptable`, `unprocessable` where another version cannot say it, `bad_request` for a
 * time that is none, or is to come
 */
export async function exportDocument(
  { store, codec }: ExportParts,
  tenant: TenantId,
  contract: string,
  request: Request,
): Promise<Response> {
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const asOf = wantedTime(request)
  if (asOf !== undefined) {
    await requirePast(run, asOf)
    const term = await termAt(run, tenant, contract, asOf)
    if (term === undefined) throw noDocumentAt(asOf)
    const then = { ...term, state: stateAt(term, asOf) }
    return await sendDocument(codec, tenant, then, await documentOf(run, tenant, term), request)
  }
  const version = await versionInForce(run, tenant, contract)
  if (version === undefined) return await sendMade({ store, codec }, tenant, contract, request)
  const bytes = await documentOf(run, tenant, version)
  return await sendDocument(codec, tenant, version, bytes, request)
}

/** Sends a document that is made of a contract without one. It has no ETag, because nothing can be edited. */
async function sendMade(
  { store, codec }: ExportParts,
  tenant: TenantId,
  contract: string,
  request: Request,
): Promise<Response> {
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const [{ tables } = { tables: [] }] = await readOverviews(run, tenant, [contract])
  const governances = await loadGovernances(store, tenant, tables)
  const made: MadeTable[] = []
  for (const governance of governances.values())
    made.push({ governance, declared: (await loadDeclaredSchema(store, tenant, governance.ref)) ?? {} })
  const [first] = made
  if (first === undefined) throw noDocument()
  const version = first.governance.contract?.version ?? 1
  const text = toYamlText(makeDocument(contract, version, made))
  // A name that the standard cannot hold is refused here, as in a document that somebody sends.
  const task = { kind: 'read', bytes: new TextEncoder().encode(text), format: 'yaml' } as const
  const { bytes } = await readContractDocument(codec, tenant, contract, task)
  return await sendDocument(
    codec,
    tenant,
    { format: 'yaml', apiVersion: apiVersions[0], state: 'active' },
    bytes,
    request,
  )
}

const noDocumentAt = (asOf: Date) =>
  new Fault(
    'not_found',
    `No document of the contract was in force at ${asOf.toISOString()}. What was put on tables without a document is in the list of changes.`,
  )

function wantedTime(request: Request): Date | undefined {
  const given = new URL(request.url).searchParams.get('as_of')
  if (given === null) return undefined
  const time = parseRfc3339(given)
  if (time === undefined)
    throw new Fault(
      'bad_request',
      '`as_of` must be a time as RFC 3339 writes it, such as 2026-03-01T00:00:00Z.',
    )
  return time
}

const noDocument = () => new Fault('not_found', 'The contract has no document in force.')

/** Sends a version's document in the form that the request asks for. @throws Fault as {@link exportDocument} */
export async function sendDocument(
  codec: DocumentCodec,
  tenant: TenantId,
  version: Pick<ContractVersion, 'format' | 'apiVersion' | 'state'> & { readonly sha256?: string },
  bytes: Uint8Array,
  request: Request,
): Promise<Response> {
  const { format: own, apiVersion: written, sha256, state } = version
  const format = acceptedFormat(request.headers.get('accept'), own)
  const apiVersion = wantedApiVersion(request)
  const unchanged = format === own && (apiVersion === undefined || apiVersion === written)
  const conversion = { format, status: state, ...(apiVersion !== undefined && { apiVersion }) }
  const body = unchanged
    ? bytes
    : await convertContractDocument(codec, tenant, { kind: 'convert', bytes, format: own, conversion })
  return new Response(body as Uint8Array<ArrayBuffer>, {
    headers: {
      'content-type': contentTypes[format],
      vary: 'accept',
      ...(unchanged && sha256 !== undefined && { etag: `"${sha256}"` }),
    },
  })
}

function wantedApiVersion(request: Request) {
  const given = new URL(request.url).searchParams.get('apiVersion')
  if (given === null) return undefined
  const found = writtenApiVersions.find((version) => version === given)
  if (found === undefined)
    throw new Fault('bad_request', `\`apiVersion\` must be one of ${writtenApiVersions.join(', ')}.`)
  return found
}

async function documentInForce(run: RunQuery, tenant: TenantId, contract: string): Promise<ContractVersion> {
  const version = await versionInForce(run, tenant, contract)
  if (version === undefined) throw noDocument()
  return version
}

/**
 * The document in force with the edits made.
 * @throws Fault `not_found`; `conflict` where another document is in force; `unprocessable` where it cannot be edited so
 */
export async function editedDocument(
  { codec }: ExportParts,
  { store, tenant }: ChangeContext,
  change: { readonly id: string; readonly edits: readonly DocumentEdit[]; readonly editedFrom: string },
): Promise<{ readonly read: ReadDocument; readonly format: DocumentFormat }> {
  const { id, edits, editedFrom } = change
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const version = await documentInForce(run, tenant, id)
  if (version.sha256 !== editedFrom)
    throw new Fault('conflict', 'Another document is in force. Load it and make the patch again.')
  const { format } = version
  const bytes = await documentOf(run, tenant, version)
  const read = await readContractDocument(codec, tenant, id, { kind: 'edit', bytes, format, edits })
  return { read, format }
}
