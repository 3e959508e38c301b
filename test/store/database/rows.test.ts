/** Declared records: what is selected, what a row becomes, and how it is shown. */

import { describe, expect, test } from 'bun:test'
import {
  about,
  choice,
  from,
  int64,
  json,
  maybe,
  snakeOf,
  text,
  time,
  uuid,
  whole,
} from '../../../src/core/record.ts'
import { schemaOf, viewOf } from '../../../src/http/record-view.ts'
import { rowsOf } from '../../../src/store/database/rows.ts'
import { openTestStore } from '../../support/store.ts'

const note = {
  id: from(uuid, 'note_id'),
  writtenAt: time,
  position: about(int64, 'digits'),
  kind: choice(['long', 'short']),
  shown: maybe(whole),
  place: from(json<{ readonly x: number }>(), "jsonb_build_object('x', x)"),
  firstLine: maybe(text),
}
const rows = rowsOf(note)

describe('a declared record', () => {
  test('selects each column under the name of its member', () => {
    expect(rows.columns).toBe(
      "note_id as id, written_at, (position)::text as position, kind, shown, jsonb_build_object('x', x) as place, first_line",
    )
    expect(snakeOf('previousSecretUntil')).toBe('previous_secret_until')
  })

  test('is read from the database with exact 64-bit numbers, instants, and undefined for null', async () => {
    await using store = await openTestStore()
    const id = 'b2a1f0de-0d9e-4c11-9b6a-2a8f3c4d5e6f'
    const source = `(select '${id}'::uuid as note_id, '2026-01-02T03:04:05Z'::timestamptz as written_at,
      9223372036854775807::int8 as position, 'long' as kind, null::int as shown, 7 as x, 'a' as first_line) n`
    const expected = {
      id,
      writtenAt: new Date('2026-01-02T03:04:05Z'),
      position: 9_223_372_036_854_775_807n,
      kind: 'long',
      shown: undefined,
      place: { x: 7 },
      firstLine: 'a',
    } as const
    const [row] = await store.adminQuery<object>(`select ${rows.columns} from ${source}`)
    expect(rows.read(row ?? {})).toEqual(expected)
    const [inJson] = await store.adminQuery<{ readonly row: object }>(
      `select to_jsonb(r) as row from (select ${rows.columns} from ${source}) r`,
    )
    expect(rows.read(inJson?.row ?? {})).toEqual(expected)
  })

  test('is shown in snake_case, with digits for 64-bit numbers', () => {
    const shown = viewOf(note)({
      ...{ id: 'x', writtenAt: new Date(0), position: 2n ** 62n, kind: 'short', shown: undefined },
      ...{ place: { x: 1 }, firstLine: undefined },
    })
    expect(shown).toEqual({
      ...{
        id: 'x',
        written_at: new Date(0),
        position: '4611686018427387904',
        kind: 'short',
        shown: undefined,
      },
      ...{ place: { x: 1 }, first_line: undefined },
    })
  })

  test('has a schema that demands what is not optional, and describes what is described', () => {
    const schema = schemaOf(note)
    expect<readonly string[] | undefined>(schema.required).toEqual([
      'id',
      'written_at',
      'position',
      'kind',
      'place',
    ])
    expect(schema.properties.position).toMatchObject({ type: 'string', description: 'digits' })
    expect(schema.properties.kind).toMatchObject({ enum: ['long', 'short'] })
  })
})
