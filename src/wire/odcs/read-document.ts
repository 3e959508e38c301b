/** Reads the bytes of a contract document, YAML or JSON, as JSON values. Reads no schema and no meaning. */

import { isNode, type Node } from 'yaml'
import { Fault } from '../../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import { limits } from '../../limits.ts'
import { listIndex } from './pointer.ts'
import { DocumentRefusal } from './problem.ts'
import { readYaml, type YamlText } from './read-yaml.ts'

export const documentFormats = ['yaml', 'json'] as const
export type DocumentFormat = (typeof documentFormats)[number]

export interface ContractDocument {
  readonly format: DocumentFormat
  readonly value: JsonObject
  /** Of a YAML document: its tree, by which it is edited. */
  readonly yaml?: YamlText
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a document.
 * @throws DocumentRefusal with line and column of what is wrong
 */
export function readDocument(bytes: Uint8Array, format: DocumentFormat): ContractDocument {
  if (bytes.length > limits.contractDocumentBytesMax)
    throw new DocumentRefusal([
      { message: `The document is larger than ${limits.contractDocumentBytesMax} bytes` },
    ])
  const text = decode(bytes)
  if (format === 'json') return { format, value: objectOf(readJson(text)) }
  const yaml = readYaml(text)
  return { format, value: objectOf(yaml.value), yaml }
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new DocumentRefusal([{ message: 'The document must be UTF-8' }])
  }
}

function readJson(text: string): JsonValue {
  try {
    return parseJson(text, {
      depthMax: limits.contractDocumentDepthMax,
      membersMax: limits.documentKeysMax,
    })
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown
    const offset = Number(/\bbyte (\d+)/.exec(thrown.publicMessage)?.[1] ?? 0)
    const before = Buffer.from(text).subarray(0, offset).toString()
    const line = before.split('\n').length
    const column = before.length - before.lastIndexOf('\n')
    const message = thrown.publicMessage.replace(/\.$/, '')
    throw new DocumentRefusal([{ line, column, message }])
  }
}

function objectOf(value: JsonValue): JsonObject {
  if (!isJsonObject(value))
    throw new DocumentRefusal([{ line: 1, column: 1, message: 'The document must be a mapping' }])
  return value
}

/** Line and column of the value at these steps, or of the nearest one above that is written; none for JSON. */
export function placeOf(
  { yaml }: ContractDocument,
  steps: readonly string[],
): { readonly line: number; readonly column: number } | undefined {
  if (yaml === undefined) return undefined
  for (let length = steps.length; length >= 0; length -= 1) {
    const node = yaml.document.getIn(
      steps.slice(0, length).map((step) => listIndex(step) ?? step),
      true,
    )
    const start = isNode(node) ? (node as Node).range?.[0] : undefined
    if (start !== undefined) return yaml.place(start)
  }
  return undefined
}

const ordinary = { enumerable: true, writable: true, configurable: true } as const

/**
 * The value with plain objects, for readers that know no Map. An integer outside the exact range of a double is rounded
 * there; the document itself keeps it.
 */
export function plainValue(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(plainValue)
  if (!isJsonObject(value)) return value
  const object: Record<string, unknown> = {}
  // Defined, not assigned, because a document may have a key such as __proto__.
  for (const [key, member] of value)
    Object.defineProperty(object, key, { value: plainValue(member), ...ordinary })
  return object
}
