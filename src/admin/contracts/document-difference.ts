/** Lists by path where two documents differ in their values. The order of members is no difference. */

import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../base/json.ts'

export interface Difference {
  /** As `/schema/orders/properties/email/required`: items of lists by their name. */
  readonly path: string
  /** Where the value is, or would be, in the later document. */
  readonly steps: readonly string[]
  /** Absent where it is added. */
  readonly before?: JsonValue
  /** Absent where it is removed. */
  readonly after?: JsonValue
}

/** Members by which the items of a list are told apart, first to last. */
const names = ['id', 'name', 'property', 'server', 'role', 'username']

interface Place {
  readonly path: string
  readonly steps: readonly string[]
}

/** The differences, in the order of the earlier document, then what is added. */
export function differencesOf(
  before: JsonValue,
  after: JsonValue,
  at: Place = { path: '', steps: [] },
): readonly Difference[] {
  if (isJsonObject(before) && isJsonObject(after)) return memberDifferences(before, after, at)
  if (Array.isArray(before) && Array.isArray(after)) return itemDifferences(before, after, at)
  return stringifyJson(before) === stringifyJson(after) ? [] : [{ ...at, before, after }]
}

interface Item {
  readonly item: JsonValue
  readonly index: number
}

const below = ({ path, steps }: Place, name: string, step = name): Place => {
  return { path: `${path}/${name}`, steps: [...steps, step] }
}

function memberDifferences(before: JsonObject, after: JsonObject, at: Place): readonly Difference[] {
  const removedOrChanged = [...before].flatMap(([name, value]) => {
    const now = after.get(name)
    if (now === undefined) return [{ ...below(at, name), before: value }]
    return differencesOf(value, now, below(at, name))
  })
  const added = [...after].flatMap(([name, value]) =>
    before.has(name) ? [] : [{ ...below(at, name), after: value }],
  )
  return [...removedOrChanged, ...added]
}

function itemDifferences(
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  at: Place,
): readonly Difference[] {
  const name = names.find((one) => isKeyOf(before, one) && isKeyOf(after, one))
  const keyOf = (item: JsonValue, index: number) =>
    name !== undefined && isJsonObject(item) ? String(item.get(name)) : String(index)
  const keyed = (items: readonly JsonValue[]) =>
    new Map(items.map((item, index): [string, Item] => [keyOf(item, index), { item, index }]))
  const [old, now] = [keyed(before), keyed(after)]
  const changed = [...old].flatMap(([key, { item, index }]): readonly Difference[] => {
    const match = now.get(key)
    if (match === undefined) return [{ ...below(at, key, String(index)), before: item }]
    return differencesOf(item, match.item, below(at, key, String(match.index)))
  })
  const added = [...now].flatMap(([key, { item, index }]) =>
    old.has(key) ? [] : [{ ...below(at, key, String(index)), after: item }],
  )
  const shared = [...old.keys()].filter((key) => now.has(key))
  const order = [...now.keys()].filter((key) => old.has(key))
  const moved = name !== undefined && shared.join('\n') !== order.join('\n')
  return [...changed, ...added, ...(moved ? [{ ...at, before: shared, after: order }] : [])]
}

/** Whether every item has a text of its own there. */
function isKeyOf(items: readonly JsonValue[], name: string): boolean {
  const keys = items.map((item) => (isJsonObject(item) ? item.get(name) : undefined))
  return keys.every((key) => typeof key === 'string') && new Set(keys).size === keys.length
}
