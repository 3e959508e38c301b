/**
 * Edits a contract document at single paths. A YAML document is edited in its tree, so that comments and all other
 * values stay; its text is then read again, and the edit is refused where any other value differs.
 */

import { Document, isCollection, isMap, isSeq, type Node, visit, type YAMLMap, type YAMLSeq } from 'yaml'
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../base/json.ts'
import { listIndex, pointerOf, pointerSteps } from './pointer.ts'
import { DocumentRefusal } from './problem.ts'
import { type ContractDocument, readDocument } from './read-document.ts'

/** A change at one path, with the meaning that JSON Patch (RFC 6902) gives to its operations. */
export type DocumentEdit =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string }

/**
 * Makes the edits, one after another.
 * @returns the bytes of the edited document
 * @throws DocumentRefusal where a path is not there, or cannot be changed alone
 */
export function editDocument(document: ContractDocument, edits: readonly DocumentEdit[]): Uint8Array {
  const value = edits.reduce<JsonValue>(
    (before, edit) => editValue(before, stepsOf(edit), edit),
    document.value,
  )
  if (!isJsonObject(value)) throw refusal('', 'The document must be a mapping')
  const text = document.yaml === undefined ? jsonText(value) : editYaml(document.yaml.document, edits)
  const bytes = new TextEncoder().encode(text)
  if (stringifyJson(readDocument(bytes, document.format).value) !== stringifyJson(value))
    throw refusal(
      edits[0]?.path ?? '',
      'The value is shared through an alias, or its text cannot hold the change',
    )
  return bytes
}

function refusal(path: string, message: string): DocumentRefusal {
  return new DocumentRefusal([{ path, message }])
}

function stepsOf({ path }: DocumentEdit): readonly string[] {
  const steps = pointerSteps(path)
  if (steps === undefined || steps.length === 0) throw refusal('', `${path} is no JSON Pointer to a member`)
  return steps
}

/** The value with the edit made, as the edited document must read. */
function editValue(
  value: JsonValue | undefined,
  steps: readonly string[],
  edit: DocumentEdit,
  done: readonly string[] = [],
): JsonValue {
  const [step = '', ...rest] = steps
  const missing = () => refusal(pointerOf([...done, step]), 'There is nothing at this path')
  if (Array.isArray(value)) return editList(value, [step, rest], edit, done, missing)
  if (!isJsonObject(value)) throw missing()
  if (rest.length > 0)
    return new Map([...value]).set(step, editValue(value.get(step), rest, edit, [...done, step]))
  if (edit.op !== 'add' && !value.has(step)) throw missing()
  if (edit.op === 'remove') return new Map([...value].filter(([key]) => key !== step))
  return new Map([...value]).set(step, edit.value)
}

function editList(
  list: readonly JsonValue[],
  [step, rest]: readonly [string, readonly string[]],
  edit: DocumentEdit,
  done: readonly string[],
  missing: () => DocumentRefusal,
): JsonValue {
  const at = step === '-' && edit.op === 'add' && rest.length === 0 ? list.length : listIndex(step)
  const last = edit.op === 'add' && rest.length === 0 ? list.length : list.length - 1
  if (at === undefined || at > last) throw missing()
  if (rest.length > 0) return list.with(at, editValue(list[at], rest, edit, [...done, step]))
  if (edit.op === 'remove') return list.toSpliced(at, 1)
  return edit.op === 'add' ? list.toSpliced(at, 0, edit.value) : list.with(at, edit.value)
}

function jsonText(value: JsonObject): string {
  return `${indented(value, '')}\n`
}

function indented(value: JsonValue, indent: string): string {
  const inner = `${indent}  `
  const wrap = (open: string, items: readonly string[], close: string) =>
    items.length === 0 ? open + close : `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`
  if (Array.isArray(value))
    return wrap(
      '[',
      value.map((item) => indented(item, inner)),
      ']',
    )
  if (!isJsonObject(value)) return stringifyJson(value)
  return wrap(
    '{',
    [...value].map(([key, member]) => `${JSON.stringify(key)}: ${indented(member, inner)}`),
    '}',
  )
}

/** The document as JSON text with two spaces a level; integers keep all digits. */
export function toJsonText({ value }: ContractDocument): string {
  return jsonText(value)
}

function editYaml(original: Document, edits: readonly DocumentEdit[]): string {
  const document = original.clone() as Document
  for (const edit of edits) {
    const steps = stepsOf(edit)
    const [parent, key] = [parentOf(document, steps), steps.at(-1) ?? '']
    if (isSeq(parent)) editSeq(document, parent, key, edit)
    else if (isMap(parent)) editMap(document, parent, key, edit)
    else throw refusal(edit.path, 'The value is shared through an alias')
  }
  return writeYaml(document)
}

/** A value as YAML text, without folding of long lines. */
export const toYamlText = (value: JsonValue): string => writeYaml(yamlDocument(value))

/** A tree of these values. */
function yamlDocument(value: JsonValue): Document {
  const document = new Document(value)
  return keepFractions(document)
}

/** The text of a tree, without folding of long lines. */
function writeYaml(document: Document): string {
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

function parentOf(document: Document, steps: readonly string[]): unknown {
  let node: unknown = document.contents
  for (const step of steps.slice(0, -1)) {
    if (!isCollection(node)) return undefined
    node = isSeq(node) ? node.get(listIndex(step) ?? -1, true) : pairOf(node as YAMLMap, step)?.value
  }
  return node
}

/** A key may be a number or true in YAML, and is text in a path. */
function pairOf(map: YAMLMap, key: string) {
  return map.items.find((pair) => String((pair.key as { readonly value?: unknown } | null)?.value) === key)
}

function editMap(document: Document, map: YAMLMap, key: string, edit: DocumentEdit): void {
  const pair = pairOf(map, key)
  if (edit.op === 'remove') map.items = map.items.filter((one) => one !== pair)
  else if (pair === undefined) map.items.push(document.createPair(key, nodeOf(document, edit.value)))
  else pair.value = replacing(document, pair.value as Node | null, edit.value)
}

function editSeq(document: Document, seq: YAMLSeq, step: string, edit: DocumentEdit): void {
  const at = step === '-' ? seq.items.length : (listIndex(step) ?? seq.items.length)
  if (edit.op === 'remove') seq.items.splice(at, 1)
  else if (edit.op === 'add') seq.items.splice(at, 0, nodeOf(document, edit.value))
  else seq.items[at] = replacing(document, seq.items[at] as Node | null, edit.value)
}

/** A new node with the comments of the one that it replaces. */
function replacing(document: Document, old: Node | null, value: JsonValue): Node {
  const node = nodeOf(document, value)
  if (old?.comment) node.comment = old.comment
  if (old?.commentBefore) node.commentBefore = old.commentBefore
  return node
}

/** A double with a whole value keeps a fraction, or it would read as an integer. */
function keepFractions<N extends Node | Document>(node: N): N {
  visit(node, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'number' && Number.isInteger(scalar.value)) scalar.minFractionDigits = 1
    },
  })
  return node
}

function nodeOf(document: Document, value: JsonValue): Node {
  return keepFractions(document.createNode(value, { aliasDuplicateObjects: false }) as Node)
}
