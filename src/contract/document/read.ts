/** Has a contract document read, edited or converted by the worker, and makes its refusals Faults. */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pathPattern } from '../../http/operation-path.ts'
import type { DocumentOutcome, DocumentTask, ReadDocument } from '../../wire/odcs/document-task.ts'
import { type DocumentProblem, describeProblem } from '../../wire/odcs/problem.ts'
import type { DocumentFormat } from '../../wire/odcs/read-document.ts'
import { checkName } from '../change.ts'
import type { DocumentCodec } from './document-codec.ts'

/** Problems that the message of a refusal names; `error.problems` holds all. */
const namedMax = 3

/**
 * Reads a document of the contract `id`, or edits and reads it.
 * @throws Fault `unprocessable` with the problems of the document
 */
export async function readContractDocument(
  codec: DocumentCodec,
  tenant: TenantId,
  id: string,
  task: Exclude<DocumentTask, { readonly kind: 'convert' }>,
): Promise<ReadDocument> {
  checkName(id)
  const outcome = accepted(await codec.perform(tenant, task))
  if (outcome.kind !== 'read') throw new Fault('internal', 'Internal error.')
  if (outcome.read.model.id !== id)
    throw new Fault('unprocessable', `The document is of the contract ${outcome.read.model.id}.`)
  return outcome.read
}

/** Has a document converted. @throws Fault `unprocessable` naming what the other version cannot say */
export async function convertContractDocument(
  codec: DocumentCodec,
  tenant: TenantId,
  task: Extract<DocumentTask, { readonly kind: 'convert' }>,
): Promise<Uint8Array> {
  const outcome = accepted(await codec.perform(tenant, task))
  if (outcome.kind !== 'converted') throw new Fault('internal', 'Internal error.')
  return outcome.bytes
}

function accepted(outcome: DocumentOutcome): Exclude<DocumentOutcome, { readonly kind: 'refused' }> {
  if (outcome.kind === 'refused') throw refused(outcome.problems)
  return outcome
}

/** A refusal with everything that is wrong. */
export function refused(problems: readonly DocumentProblem[]): Fault {
  const message = problems.slice(0, namedMax).map(describeProblem).join(' ')
  return new Fault('unprocessable', message, { members: { problems } })
}

const formats: Readonly<Record<string, DocumentFormat>> = {
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'text/x-yaml': 'yaml',
  'application/json': 'json',
}

/** Content types of a document, by format. */
export const contentTypes: Readonly<Record<DocumentFormat, string>> = {
  yaml: 'application/yaml',
  json: 'application/json',
}

/** The format of a request's body. @throws Fault `bad_request` for another content type, or an encoded body */
export function formatOfBody({ headers }: Request): DocumentFormat {
  if ((headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    throw new Fault('bad_request', 'The body must be sent without Content-Encoding.')
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const format = formats[type]
  if (format === undefined)
    throw new Fault(
      'bad_request',
      'Send the document with Content-Type application/yaml or application/json.',
    )
  return format
}

/**
 * The format that an Accept header prefers.
 * @param own of the stored document, which is sent where the header has no preference
 * @throws Fault `not_acceptable`
 */
export function acceptedFormat(accept: string | null, own: DocumentFormat): DocumentFormat {
  const wanted = (accept ?? '*/*')
    .split(',')
    .map((part) => {
      const [type = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
      const quality = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1'
      return { type, quality: Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
  for (const { type } of wanted) {
    if (['*/*', 'application/*', 'text/*', ''].includes(type)) return own
    const format = formats[type]
    if (format !== undefined) return format
  }
  throw new Fault('not_acceptable', 'The document can be had as application/yaml or application/json.')
}

/** The contract that a request's path names. */
export function idOf(request: Request, path: string): string {
  const { id = '' } = pathPattern(path).exec(new URL(request.url).pathname)?.groups ?? {}
  try {
    return decodeURIComponent(id)
  } catch {
    throw new Fault('bad_request', 'The path is not percent-encoded UTF-8.')
  }
}
