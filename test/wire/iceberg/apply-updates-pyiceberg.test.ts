/** applyUpdates compared with PyIceberg's results for the same metadata and updates. */

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../src/base/json.ts'
import { applyUpdates } from '../../../src/wire/iceberg/apply-updates.ts'

const path = new URL('./fixtures/apply-updates.pyiceberg.json', import.meta.url)
const cases = parseJson(readFileSync(path)) as readonly JsonObject[]

/** Where we differ from PyIceberg, and why. */
const ignoredKeys: Readonly<Record<string, readonly string[]>> = {
  // PyIceberg takes the snapshot's time or its own clock; we take the time of the commit, as Java does.
  all: ['last-updated-ms'],
  // A stray key that PyIceberg 0.12.0 leaves beside `schema-id`.
  'upgrades version 1 to 2': ['schema_id'],
  // PyIceberg forgets a parent that was removed; Java and we leave snapshots as they were written.
  'removes the first snapshot with its tag and statistics': ['parent-snapshot-id'],
}

/** PyIceberg writes null, an empty list or an empty object where the metadata may leave a key out, and -1. */
function isEmpty(value: JsonValue): boolean {
  return (
    value === null ||
    value === -1n ||
    (Array.isArray(value) && value.length === 0) ||
    (isJsonObject(value) && value.size === 0)
  )
}

function normal(value: JsonValue, ignored: readonly string[]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => normal(item, ignored))
  if (!isJsonObject(value)) return value
  return new Map(
    [...value]
      .filter(([key, member]) => !ignored.includes(key) && !isEmpty(member))
      .map(([key, member]): [string, JsonValue] => [key, normal(member, ignored)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

describe('applyUpdates gives what PyIceberg gives', () => {
  test.each(cases.map((one) => [String(one.get('name')), one] as const))('%s', (name, one) => {
    const ignored = [...(ignoredKeys.all ?? []), ...(ignoredKeys[name] ?? [])]
    const base = one.get('base')
    const result = applyUpdates(
      isJsonObject(base) ? base : undefined,
      one.get('updates') as readonly JsonObject[],
      { nowMs: 1_700_000_009_000 },
    )
    expect(normal(result, ignored)).toEqual(normal(one.get('result') ?? null, ignored))
  })
})
