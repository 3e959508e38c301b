/** Reads a JSON Patch (RFC 6902) from a request: `add`, `replace` and `remove`. */

import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import { limits } from '../../limits.ts'
import type { DocumentEdit } from '../../wire/odcs/edit-document.ts'

/** Operations of one patch. */
const editsMax = 1_000

/**
 * The edits of a patch, and the SHA-256 of the document that they were made for.
 * @throws Fault `bad_request`
 */
export function readEdits(
  { headers }: Request,
  body: Uint8Array,
): { readonly edits: readonly DocumentEdit[]; readonly editedFrom: string } {
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json-patch+json')
    throw new Fault('bad_request', 'Send the patch with Content-Type application/json-patch+json.')
  const editedFrom = /^"([0-9a-f]{64})"$/.exec(headers.get('if-match') ?? '')?.[1]
  if (editedFrom === undefined)
    throw new Fault('bad_request', 'Send If-Match with the ETag of the document that the patch was made for.')
  return { edits: readEditList(parseJson(body, { membersMax: limits.documentKeysMax })), editedFrom }
}

/** The edits of a patch. @throws Fault `bad_request` */
export function readEditList(value: JsonValue): readonly DocumentEdit[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > editsMax)
    throw new Fault('bad_request', `A patch is a list of 1 to ${editsMax} operations.`)
  return value.map(readEdit)
}

function readEdit(value: JsonValue): DocumentEdit {
  if (!isJsonObject(value)) throw new Fault('bad_request', 'An operation of a patch must be an object.')
  const [op, path, given] = ['op', 'path', 'value'].map((name) => value.get(name))
  if (typeof path !== 'string') throw new Fault('bad_request', 'An operation of a patch needs `path`.')
  if (op === 'remove') return { op, path }
  if (op !== 'add' && op !== 'replace')
    throw new Fault('bad_request', 'The operations of a patch are add, replace and remove.')
  if (given === undefined) throw new Fault('bad_request', `The operation ${op} needs \`value\`.`)
  return { op, path, value: given }
}
