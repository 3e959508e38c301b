/** Writes a document in another format, or in another version of the standard. */

import { isJsonObject, type JsonValue } from '../../base/json.ts'
import { isWritten, type WrittenApiVersion } from './api-versions.ts'
import { type DocumentEdit, editDocument, toJsonText, toYamlText } from './edit-document.ts'
import { pointerOf } from './pointer.ts'
import { DocumentRefusal } from './problem.ts'
import { type DocumentFormat, readDocument } from './read-document.ts'
import { apiVersionOf, standardProblems } from './validate-document.ts'

export interface Conversion {
  readonly format: DocumentFormat
  /** Absent: the document's own version. */
  readonly apiVersion?: WrittenApiVersion
  /** The life cycle's state, for a version of the standard that requires `status`. */
  readonly status: string
}

/**
 * Converts a document. The unchanged document is never converted: its bytes are sent.
 * @throws DocumentRefusal where the other version has no word for what the document says; it names each field
 */
export function convertDocument(bytes: Uint8Array, from: DocumentFormat, conversion: Conversion): Uint8Array {
  const versioned = inVersion(bytes, from, conversion)
  if (conversion.format === from) return versioned
  const document = readDocument(versioned, from)
  const text = conversion.format === 'json' ? toJsonText(document) : toYamlText(document.value)
  return new TextEncoder().encode(text)
}

function inVersion(
  bytes: Uint8Array,
  format: DocumentFormat,
  { apiVersion, status }: Conversion,
): Uint8Array {
  const document = readDocument(bytes, format)
  const own = apiVersionOf(document)
  if (apiVersion === undefined || apiVersion === own) return bytes
  if (own === undefined || !isWritten(own))
    throw new DocumentRefusal([{ path: '/apiVersion', message: 'A document of 2.2 cannot be converted' }])
  const needsStatus = !document.value.has('status') && apiVersion !== 'v3.2.0'
  const edited = editDocument(document, [
    ...(apiVersion === 'v3.2.0' ? [] : withoutVendor(document.value, [])),
    { op: 'replace', path: '/apiVersion', value: apiVersion },
    ...(needsStatus ? [{ op: 'add' as const, path: '/status', value: status }] : []),
  ])
  const problems = standardProblems(readDocument(edited, format))
  // Lines would be those of the converted text.
  if (problems.length > 0)
    throw new DocumentRefusal(problems.map(({ path = '', message }) => ({ path, message })))
  return edited
}

/** Our property is recognised by its name alone in versions of the standard that do not have `vendor`. */
function withoutVendor(value: JsonValue, path: readonly (string | number)[]): readonly DocumentEdit[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => withoutVendor(item, [...path, index]))
  if (!isJsonObject(value)) return []
  if (value.get('property') === 'covenant' && value.get('vendor') === 'covenant')
    return [{ op: 'remove', path: pointerOf([...path, 'vendor']) }]
  return [...value].flatMap(([key, member]) => withoutVendor(member, [...path, key]))
}
