import { describe, expect, test } from 'bun:test'
import { type JsonObject, type JsonValue, jsonObject } from '../../../src/base/json.ts'
import type { CommitIntent } from '../../../src/core/commit.ts'
import { decideIntents } from '../../../src/gateway/recovery/decide.ts'
import type { StaleIntent, TableEvidence } from '../../../src/gateway/recovery/evidence.ts'

function stale(
  commitId: string,
  base: string,
  snapshotIds: readonly bigint[] = [],
  effectsHold = false,
): StaleIntent {
  const intent: CommitIntent = {
    commitId,
    table: { namespace: ['n'], name: 't' },
    credentialId: 'c',
    principal: { sub: 's', roles: [] },
    principalSource: 'session',
    bodySha256: `body of ${commitId}`,
    body: new Uint8Array(),
    baseMetadataLocation: base,
    snapshotIds,
    receivedAtMs: Number(commitId.replace(/\D/g, '')),
  }
  const updates = [
    jsonObject({ action: 'set-properties', updates: jsonObject({ [effectsHold ? 'held' : 'lost']: 'yes' }) }),
  ]
  return { intent, updates: snapshotIds.length > 0 ? undefined : updates }
}

/** The same request, sent again. */
function again(commitId: string, { intent, updates }: StaleIntent): StaleIntent {
  return { intent: { ...intent, commitId }, updates }
}

interface History {
  /** Metadata files, oldest first, the last one current; each with the time it was written. */
  readonly files: readonly (readonly [string, bigint])[]
  readonly snapshots?: readonly { readonly id: bigint; readonly at: bigint; readonly sequence: bigint }[]
  readonly currentSnapshotId?: bigint
  readonly audited?: readonly string[]
  readonly othersInFlight?: boolean
}

function table(history: History): TableEvidence {
  const [current, currentAt] = history.files.at(-1) ?? ['', 0n]
  const metadata: JsonObject = new Map<string, JsonValue>([
    ['format-version', 2n],
    ['location', 's3://t'],
    ['last-column-id', 0n],
    ['current-schema-id', 0n],
    ['schemas', [jsonObject({ type: 'struct', 'schema-id': 0n, fields: [] })]],
    ['default-spec-id', 0n],
    ['partition-specs', [jsonObject({ 'spec-id': 0n, fields: [] })]],
    ['last-partition-id', 999n],
    ['default-sort-order-id', 0n],
    ['sort-orders', [jsonObject({ 'order-id': 0n, fields: [] })]],
    ['last-sequence-number', 0n],
    ['properties', jsonObject({ held: 'yes' })],
    ['last-updated-ms', currentAt],
    ['current-snapshot-id', history.currentSnapshotId ?? -1n],
    [
      'metadata-log',
      history.files.slice(0, -1).map(
        ([file, at]) =>
          new Map<string, JsonValue>([
            ['metadata-file', file],
            ['timestamp-ms', at],
          ]),
      ),
    ],
    [
      'snapshots',
      (history.snapshots ?? []).map(
        ({ id, at, sequence }) =>
          new Map<string, JsonValue>([
            ['snapshot-id', id],
            ['timestamp-ms', at],
            ['sequence-number', sequence],
            ...(sequence > 1n ? [['parent-snapshot-id', id] as const] : []),
          ]),
      ),
    ],
  ])
  return {
    metadataLocation: current,
    metadata,
    audited: new Map((history.audited ?? []).map((file) => [file, `body of ${file}`])),
    takesAway: false,
    others: history.othersInFlight ? [{ ...stale('9', '', [], true), isLeased: true }] : [],
  }
}

function decide(intents: readonly StaleIntent[], evidence: TableEvidence | undefined) {
  return Object.fromEntries(
    [...decideIntents(intents, evidence)].map(([id, outcome]) => [
      id,
      outcome.kind === 'committed' ? outcome.metadataLocation : outcome.kind,
    ]),
  )
}

describe('what became of an intent', () => {
  test('nothing, where the table still stands at its base', () => {
    expect(decide([stale('1', 'm1', [7n])], table({ files: [['m1', 1n]] }))).toEqual({ 1: 'not-committed' })
  })

  test('undecidable, where a creation’s snapshot shows and nobody sent the same: the log may have lost its file', () => {
    const evidence = table({
      files: [
        ['m2', 2n],
        ['m3', 3n],
      ],
      snapshots: [{ id: 7n, at: 1n, sequence: 1n }],
    })
    const audited = new Map([
      ['m2', 'another body'],
      ['m3', 'a third'],
    ])
    expect(decide([stale('1', '', [7n])], { ...evidence, audited })).toEqual({ 1: 'undecidable' })
  })

  test('nothing, where every later metadata file is audited, even if its snapshot is there: the client sent it again', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
      ],
      snapshots: [{ id: 7n, at: 2n, sequence: 1n }],
      audited: ['m2'],
    })
    expect(decide([stale('1', 'm1', [7n])], evidence)).toEqual({ 1: 'not-committed' })
  })

  test('committed, where its snapshot is there and one metadata file is unexplained', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
      ],
      snapshots: [{ id: 7n, at: 2n, sequence: 1n }],
    })
    expect(decide([stale('1', 'm1', [7n])], evidence)).toEqual({ 1: 'm2' })
  })

  test('undecidable, where another writer came between and no time tells their files apart', () => {
    const intent = stale('1', 'm1', [7n])
    const files: History['files'] = [
      ['m1', 1n],
      ['m2', 2n],
      ['m3', 3n],
    ]
    const snapshots = [{ id: 7n, at: 9n, sequence: 1n }]
    expect(decide([intent], table({ files, snapshots }))).toEqual({ 1: 'undecidable' })
    expect(decide([intent], table({ files, snapshots, audited: ['m2'] }))).toEqual({ 1: 'm3' })
    const stamped = [
      { id: 6n, at: 2n, sequence: 1n },
      { id: 7n, at: 3n, sequence: 2n },
    ]
    expect(decide([intent], table({ files, snapshots: stamped }))).toEqual({ 1: 'm3' })
  })

  test('committed at its own file in the history, not at the current one', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
        ['m3', 3n],
      ],
      snapshots: [
        { id: 7n, at: 2n, sequence: 1n },
        { id: 8n, at: 3n, sequence: 2n },
      ],
      audited: ['m3'],
    })
    expect(decide([stale('1', 'm1', [7n])], evidence)).toEqual({ 1: 'm2' })
  })

  test('committed, where only properties were set, they hold, and one metadata file is unexplained', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
      ],
    })
    expect(decide([stale('1', 'm1', [], true)], evidence)).toEqual({ 1: 'm2' })
  })

  test('not committed, where another intent explains the only unexplained file', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
      ],
      snapshots: [{ id: 7n, at: 2n, sequence: 1n }],
    })
    expect(decide([stale('1', 'm1', [7n]), stale('2', 'm1', [9n]), stale('3', 'm1')], evidence)).toEqual({
      1: 'm2',
      2: 'not-committed',
      3: 'not-committed',
    })
  })

  test('each its own file, in the order of their sequence numbers, where stamps do not tell', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 50n],
        ['m3', 50n],
      ],
      snapshots: [
        { id: 8n, at: 3n, sequence: 2n },
        { id: 7n, at: 2n, sequence: 1n },
      ],
    })
    expect(decide([stale('1', 'm1', [8n]), stale('2', 'm1', [7n])], evidence)).toEqual({ 1: 'm3', 2: 'm2' })
  })

  test('one of two intents with the same snapshot, where the client sent one body twice', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
      ],
      snapshots: [{ id: 7n, at: 2n, sequence: 1n }],
    })
    const outcomes = Object.values(
      decide([stale('1', 'm1', [7n]), again('2', stale('1', 'm1', [7n]))], evidence),
    )
    expect(outcomes.sort()).toEqual(['m2', 'not-committed'])
  })

  test('undecidable, where more files are unexplained than intents can explain', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
        ['m3', 3n],
      ],
    })
    expect(decide([stale('1', 'm1', [], true)], evidence)).toEqual({ 1: 'undecidable' })
  })

  test('undecidable, where others are under way and nothing proves it', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
      ],
      othersInFlight: true,
    })
    expect(decide([stale('1', 'm1', [], true), stale('2', 'm1', [9n])], evidence)).toEqual({
      1: 'undecidable',
      2: 'undecidable',
    })
  })

  test('committed even while others are under way, where each file bears the stamp of its snapshot: one may be a coincidence', () => {
    const evidence = table({
      files: [
        ['m1', 1n],
        ['m2', 2n],
        ['m3', 3n],
      ],
      snapshots: [
        { id: 7n, at: 2n, sequence: 1n },
        { id: 8n, at: 3n, sequence: 2n },
      ],
      othersInFlight: true,
    })
    expect(decide([stale('1', 'm1', [7n])], evidence)).toEqual({ 1: 'm2' })
    const alone = { ...evidence, metadata: new Map(evidence.metadata) }
    alone.metadata.set('snapshots', (evidence.metadata.get('snapshots') as JsonValue[]).slice(0, 1))
    expect(decide([stale('1', 'm1', [7n])], alone)).toEqual({ 1: 'undecidable' })
  })

  describe('of a catalog that keeps no metadata log', () => {
    const alone = {
      files: [['m9', 90n]],
      snapshots: [{ id: 7n, at: 70n, sequence: 1n }],
      currentSnapshotId: 7n,
    } as const

    test('committed at the file that there is, where the current snapshot is its own', () => {
      expect(decide([stale('c1', 'm0', [7n])], table(alone))).toEqual({ c1: 'm9' })
    })

    test('undecidable, where the current snapshot is of another commit', () => {
      expect(decide([stale('c1', 'm0', [6n])], table(alone))).toEqual({ c1: 'undecidable' })
    })

    test('undecidable, where the file that there is belongs to an audited commit', () => {
      expect(decide([stale('c1', 'm0', [7n])], table({ ...alone, audited: ['m9'] }))).toEqual({
        c1: 'undecidable',
      })
    })

    test('undecidable, where two intents claim the snapshot, or others are under way', () => {
      const twice = [stale('c1', 'm0', [7n]), stale('c2', 'm0', [7n])]
      expect(decide(twice, table(alone))).toEqual({ c1: 'undecidable', c2: 'undecidable' })
      expect(decide([stale('c1', 'm0', [7n])], table({ ...alone, othersInFlight: true }))).toEqual({
        c1: 'undecidable',
      })
    })

    test('undecidable, where only properties were set, though they hold', () => {
      expect(decide([stale('c1', 'm0', [], true)], table({ ...alone, snapshots: [] }))).toEqual({
        c1: 'undecidable',
      })
    })
  })

  test('undecidable, where the metadata log no longer reaches back to the base', () => {
    expect(
      decide(
        [stale('1', 'gone', [7n])],
        table({
          files: [
            ['m8', 8n],
            ['m9', 9n],
          ],
        }),
      ),
    ).toEqual({ 1: 'undecidable' })
  })

  test('nothing, where the table it would create does not exist', () => {
    expect(decide([stale('1', '')], undefined)).toEqual({ 1: 'not-committed' })
  })

  test('undecidable, where the table was dropped since', () => {
    expect(decide([stale('1', 'm1')], undefined)).toEqual({ 1: 'undecidable' })
  })
})

describe('a commit that was surely made, because another of its transaction was', () => {
  const sure = (one: StaleIntent): StaleIntent => ({ ...one, isSurelyMade: true })
  const two = [
    ['m1', 1n],
    ['m2', 2n],
  ] as const

  test('wrote the only file that the audit does not explain, whatever else is in flight', () => {
    const evidence = table({ files: two, othersInFlight: true })
    expect(decide([sure(stale('1', 'm1', [], true))], evidence)).toEqual({ 1: 'm2' })
    expect(decide([stale('1', 'm1', [], true)], evidence)).toEqual({ 1: 'undecidable' })
  })

  test('did not write that file where it is without what the commit sets', () => {
    expect(decide([sure(stale('1', 'm1'))], table({ files: two }))).toEqual({ 1: 'undecidable' })
  })

  test('is never decided as not made', () => {
    expect(decide([sure(stale('1', 'm2'))], table({ files: two }))).toEqual({ 1: 'undecidable' })
    expect(decide([sure(stale('1', 'm1'))], table({ files: two, audited: ['m2'] }))).toEqual({
      1: 'undecidable',
    })
    expect(decide([sure(stale('1', ''))], undefined)).toEqual({ 1: 'undecidable' })
  })

  test('wrote no file where it changes nothing and the table stands at its base', () => {
    expect(decide([sure(stale('1', 'm2', [], true))], table({ files: two }))).toEqual({ 1: 'm2' })
  })

  test('stays open where two files are not explained and others are in flight', () => {
    const files = [...two, ['m3', 3n] as const]
    const held = sure(stale('1', 'm1', [], true))
    expect(decide([held], table({ files, othersInFlight: true }))).toEqual({ 1: 'undecidable' })
    expect(decide([sure(stale('1', 'm1')), stale('2', 'm1', [], true)], table({ files }))).toEqual({
      1: 'm2',
      2: 'm3',
    })
  })

  test('wrote the file that a catalog without a metadata log shows, where its effects hold and it is alone', () => {
    const evidence = table({ files: [['m9', 9n]] })
    expect(decide([sure(stale('1', 'm1', [], true))], evidence)).toEqual({ 1: 'm9' })
    expect(decide([sure(stale('1', 'm1'))], evidence)).toEqual({ 1: 'undecidable' })
    expect(decide([sure(stale('1', 'm1', [], true)), stale('2', 'm0', [], true)], evidence)).toEqual({
      1: 'undecidable',
      2: 'undecidable',
    })
    expect(decide([stale('1', 'm1', [], true)], evidence)).toEqual({ 1: 'undecidable' })
  })
})
