/**
 * Nested columns of random tables, read through the compiler and the embedded engine under random masks: each value is
 * what the rows and the definition of the masks say, whole, by its fields, from subqueries, and unnested.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { Field, FieldType } from '../../../demo/lake/table-fields.ts'
import { startTestEngine, type TestEngine } from '../../support/engine.ts'
import { ask, seenBy } from '../support/lake-query.ts'
import {
  fieldIds,
  fieldOf,
  fieldsOf,
  jsonText,
  literalOf,
  masksOf,
  placesIn,
  randomOf,
  randomValue,
  shownOf,
  type Value,
} from '../support/nested-lake.ts'

const seed = 20261128
const tables = 8

let engine: TestEngine
beforeAll(async () => {
  engine = await startTestEngine()
})
afterAll(() => engine.close())

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
type Row = ReadonlyMap<string, Value>

/** What the result of a statement holds for a value. */
function resultOf(value: Value, type: FieldType): unknown {
  if (value === null) return null
  if (typeof type === 'string') return type.startsWith('decimal') ? decimal(value) : value
  if (!('list' in type)) return jsonText(value)
  const isScalar = typeof type.list === 'string'
  return (value as readonly Value[]).map((one) =>
    one === null ? null : isScalar ? resultOf(one, type.list) : jsonText(one),
  )
}

const decimal = (value: Value) => `${BigInt(String(value).replace('.', ''))}e-4`

test.each(Array.from({ length: tables }, (_, index) => index))('table %i', async (index) => {
  const random = randomOf(seed + index)
  let ids = 1
  const next = () => ++ids
  const fields: readonly Field[] = [
    { id: 1, name: 'id', type: 'int' },
    ...fieldsOf(random, 3, 3, next).map(
      (field, at): Field =>
        // Two at least are nested.
        at > 1
          ? field
          : {
              ...field,
              type:
                at === 0
                  ? { struct: fieldsOf(random, 2, 3, next) }
                  : { elementId: next(), list: { struct: fieldsOf(random, 1, 2, next) } },
            },
    ),
  ]
  const nested = fields.slice(1)
  const rows = Array.from(
    { length: 9 },
    (_, id): Row =>
      new Map([['id', id], ...nested.map((field) => [field.name, randomValue(random, field.type)] as const)]),
  )
  const select = (row: Row) =>
    `SELECT ${fields.map(({ name, type }) => `${literalOf(row.get(name) ?? null, type)} AS ${quoted(name)}`).join(', ')}`
  const writer = engine.table(`t${index}`, { fields })
  const bytes = await duckdbParquet(rows.map(select).join(' UNION ALL '), fieldIds(fields))
  await writer.append([{ bytes, rows: [], recordCount: rows.length }])

  for (let round = 0; round < 3; round++) {
    const masks =
      round === 0
        ? {}
        : masksOf(
            random,
            nested.flatMap(({ name, type }) => [{ name, type, isKey: false }, ...placesIn(name, type)]),
          )
    const filters = random.below(2) === 0 ? [] : ['id % 3 <> 1']
    const table = seenBy(writer, masks, filters)
    const read = async (sql: string) => (await ask(engine, writer, table, sql)).rows
    const visible = rows.filter((row) => filters.length === 0 || Number(row.get('id')) % 3 !== 1)
    const seen = (row: Row, { name, type }: Field) => shownOf(row.get(name) ?? null, name, type, masks)

    const all = `SELECT id, ${nested.map(({ name }) => quoted(name)).join(', ')} FROM t`
    const whole = visible.map((row) => [
      row.get('id'),
      ...nested.map((field) => resultOf(seen(row, field), field.type)),
    ])
    expect(await read(`${all} ORDER BY id`)).toEqual(whole)
    expect(
      await read(
        `WITH w AS (SELECT * FROM t) SELECT * FROM (${all.replace('FROM t', 'FROM w')}) q ORDER BY id`,
      ),
    ).toEqual(whole)

    for (const field of nested) await fieldsAlike(field)

    async function fieldsAlike(field: Field): Promise<void> {
      const column = `(q.${quoted(field.name)})`
      const reads: string[] = []
      const expected: ((value: Value) => unknown)[] = []
      const walk = (type: FieldType, sql: string, names: readonly string[], of: (value: Value) => Value) => {
        if (typeof type === 'string' || !('struct' in type)) return
        for (const inner of type.struct) {
          const name = `${names.at(-1)}.${inner.name}`
          const value = (from: Value) => fieldOf(of(from), [name, names], inner, masks)
          reads.push(`(${sql}).${quoted(inner.name)}`)
          expected.push((from) => resultOf(value(from), inner.type))
          walk(inner.type, `(${sql}).${quoted(inner.name)}`, [...names, name], value)
        }
      }
      const isList = typeof field.type === 'object' && 'list' in field.type
      const element = typeof field.type === 'object' && 'list' in field.type ? field.type.list : undefined
      if (element === undefined) {
        walk(field.type, column, [field.name], (value) => value)
        if (reads.length === 0) return
        const rows = visible.map((row) => [row.get('id'), ...expected.map((of) => of(seen(row, field)))])
        for (const from of [
          't AS q',
          `(SELECT * FROM t) AS q`,
          `(SELECT id, ${quoted(field.name)} FROM (SELECT * FROM t) r) AS q`,
        ])
          expect(await read(`SELECT q.id, ${reads.join(', ')} FROM ${from} ORDER BY q.id`)).toEqual(rows)
      } else if (isList && typeof element === 'object' && 'struct' in element) {
        for (const inner of element.struct) {
          reads.push(`(e).${quoted(inner.name)}`)
          expected.push((from) => {
            const element = `${field.name}.element`
            const name = `${element}.${inner.name}`
            const value = fieldOf(from, [name, [field.name, element]], inner, masks)
            // Inside a list, a list is JSON.
            return value !== null && typeof inner.type === 'object'
              ? jsonText(value)
              : resultOf(value, inner.type)
          })
        }
        const sorted = (found: readonly (readonly unknown[])[]) =>
          found
            .map((row) => JSON.stringify(row, (_, each) => (typeof each === 'bigint' ? String(each) : each)))
            .toSorted()
        const rows = visible.flatMap((row) =>
          ((seen(row, field) ?? []) as readonly Value[]).map((one) => [
            row.get('id'),
            one === null ? null : jsonText(one),
            ...expected.map((of) => of(one)),
          ]),
        )
        const sql = `SELECT q.id, e, ${reads.join(', ')} FROM t AS q, unnest(q.${quoted(field.name)}) AS e`
        expect(sorted(await read(sql))).toEqual(sorted(rows))
        const first = visible.map((row) => {
          const one = ((seen(row, field) ?? []) as readonly Value[])[0] ?? null
          const isThere = ((seen(row, field) ?? []) as readonly Value[]).length > 0
          return [row.get('id'), ...expected.map((of) => (isThere ? of(one) : null))]
        })
        const firsts = reads.map((each) => each.replace('(e)', `(q.${quoted(field.name)}[1])`))
        expect(await read(`SELECT q.id, ${firsts.join(', ')} FROM t AS q ORDER BY q.id`)).toEqual(first)
      }
    }
  }
})
