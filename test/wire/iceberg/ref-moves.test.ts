/** Which snapshots a commit takes a ref from and to, by the metadata before and after it. */

import { describe, expect, test } from 'bun:test'
import { isJsonObject, type JsonObject, jsonObject, parseJson } from '../../../src/base/json.ts'
import { refMoves } from '../../../src/wire/iceberg/ref-moves.ts'

/** Snapshots as `id` or `id<parent`, refs by name. */
function metadata(snapshots: readonly string[], refs: Readonly<Record<string, number>> = {}): JsonObject {
  const listed = snapshots.map((text) => {
    const [id, parent] = text.split('<').map(Number)
    return { 'snapshot-id': id, ...(parent !== undefined && { 'parent-snapshot-id': parent }) }
  })
  const named = Object.fromEntries(
    Object.entries(refs).map(([name, id]) => [name, { 'snapshot-id': id, type: 'branch' }]),
  )
  const value = parseJson(Buffer.from(JSON.stringify({ snapshots: listed, refs: named })), { depthMax: 9 })
  return isJsonObject(value) ? value : jsonObject({})
}

function moves(before: JsonObject | undefined, after: JsonObject, stepsMax = 8) {
  const { steps, leaves } = refMoves(before, after, stepsMax)
  const id = (one: JsonObject | undefined) => (one === undefined ? '' : String(one.get('snapshot-id')))
  return { steps: steps.map((step) => `${id(step.before)}>${id(step.after)}`), leaves }
}

const history = ['1', '2<1', '3<2']

describe('a branch', () => {
  test('that gets a snapshot made on its own follows it', () => {
    const before = metadata(history, { main: 3 })
    expect(moves(before, metadata([...history, '4<3'], { main: 4 }))).toEqual({
      steps: ['3>4'],
      leaves: false,
    })
  })

  test('that gets several snapshots of one commit is compared step by step', () => {
    const before = metadata(history, { main: 3 })
    const after = metadata([...history, '4<3', '5<4'], { main: 5 })
    expect(moves(before, after)).toEqual({ steps: ['4>5', '3>4'], leaves: false })
  })

  test('that is set to an older snapshot leaves its own', () => {
    const before = metadata(history, { main: 3 })
    expect(moves(before, metadata(history, { main: 1 }))).toEqual({ steps: ['3>1'], leaves: true })
  })

  test('that gets a snapshot made on an older one leaves its own', () => {
    const before = metadata(history, { main: 3 })
    const after = metadata([...history, '4<2'], { main: 4 })
    expect(moves(before, after)).toEqual({ steps: ['3>4'], leaves: true })
  })

  test('that gets a snapshot without a parent leaves its own, as where a table is replaced', () => {
    const before = metadata(history, { main: 3 })
    expect(moves(before, metadata([...history, '4'], { main: 4 }))).toEqual({ steps: ['3>4'], leaves: true })
  })

  test('that is fast-forwarded along snapshots that exist follows each of them', () => {
    const before = metadata(history, { main: 1, audit: 3 })
    const after = metadata(history, { main: 3, audit: 3 })
    expect(moves(before, after)).toEqual({ steps: ['2>3', '1>2'], leaves: false })
  })

  test('that is taken further than snapshots are followed leaves its own', () => {
    const before = metadata(history, { main: 1 })
    expect(moves(before, metadata(history, { main: 3 }), 1)).toEqual({ steps: ['1>3'], leaves: true })
  })

  test('whose snapshots name each other as parents in a circle is not followed for ever', () => {
    const circle = ['1', '2<3', '3<2']
    const before = metadata(circle, { main: 1 })
    expect(moves(before, metadata(circle, { main: 3 }))).toEqual({ steps: ['1>3'], leaves: true })
  })

  test('that is new takes nothing from anyone, unless it is main', () => {
    const before = metadata(history, { main: 3 })
    expect(moves(before, metadata(history, { main: 3, old: 1 }))).toEqual({ steps: [], leaves: false })
    expect(moves(metadata(history), metadata(history, { main: 1 }))).toEqual({ steps: ['>1'], leaves: true })
  })

  test('that is new with a new snapshot is compared with that snapshot’s parent', () => {
    const before = metadata(history, { main: 3 })
    const after = metadata([...history, '4<2'], { main: 3, fix: 4 })
    expect(moves(before, after)).toEqual({ steps: ['2>4'], leaves: false })
  })

  test('main that is removed leaves its own; another does not', () => {
    const before = metadata(history, { main: 3, audit: 2 })
    expect(moves(before, metadata(history, { audit: 2 }))).toEqual({ steps: ['3>'], leaves: true })
    expect(moves(before, metadata(history, { main: 3 }))).toEqual({ steps: [], leaves: false })
  })
})

test('the first snapshot of a table that a commit creates is compared with nothing', () => {
  expect(moves(undefined, metadata(['1'], { main: 1 }))).toEqual({ steps: ['>1'], leaves: false })
  expect(moves(metadata([]), metadata(['1<9'], { main: 1 }))).toEqual({ steps: ['>1'], leaves: false })
})

test('a snapshot that no ref names is compared with its parent', () => {
  const before = metadata(history, { main: 3 })
  expect(moves(before, metadata([...history, '4<2'], { main: 3 }))).toEqual({ steps: ['2>4'], leaves: false })
})

test('a commit without snapshots moves nothing', () => {
  const before = metadata(history, { main: 3 })
  expect(moves(before, before)).toEqual({ steps: [], leaves: false })
})

test('a tag that becomes a branch of its name leaves what it held, on the same snapshot too', () => {
  const refs = (type: string) =>
    new Map([
      [
        'v1',
        new Map<string, bigint | string>([
          ['snapshot-id', 1n],
          ['type', type],
        ]),
      ],
    ])
  const typed = (type: string) => new Map([...metadata(history), ['refs', refs(type)]])
  expect(moves(typed('tag'), typed('branch'))).toEqual({ steps: [], leaves: true })
  expect(moves(typed('branch'), typed('tag'))).toEqual({ steps: [], leaves: false })
})
