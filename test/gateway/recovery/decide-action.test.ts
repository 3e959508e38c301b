import { describe, expect, test } from 'bun:test'
import { type JsonObject, type JsonValue, jsonObject } from '../../../src/base/json.ts'
import type { CatalogAction, CommitIntent } from '../../../src/core/commit.ts'
import { decideAction, type Found } from '../../../src/gateway/recovery/decide-action.ts'
import type { AuditedChanges } from '../../../src/store/commit/audit.ts'

const receivedAtMs = 1_800_000_000_000

function intent(action: CatalogAction, baseMetadataLocation = ''): CommitIntent {
  return {
    commitId: crypto.randomUUID(),
    action,
    table: { namespace: ['n'], name: 't' },
    credentialId: crypto.randomUUID(),
    principal: { sub: 's', roles: [] },
    principalSource: 'session',
    bodySha256: '',
    body: new Uint8Array(),
    baseMetadataLocation,
    snapshotIds: [],
    receivedAtMs,
  }
}

/** A table whose metadata files have these names, the last one current. */
function table(locations: readonly string[], audited: readonly string[] = [], firstMs = receivedAtMs): Found {
  const entry = (location: string, i: number): JsonObject =>
    jsonObject({ 'metadata-file': location, 'timestamp-ms': BigInt(firstMs + i) })
  const metadata = new Map<string, JsonValue>([
    ['metadata-log', locations.slice(0, -1).map(entry)],
    ['last-updated-ms', BigInt(firstMs + locations.length - 1)],
  ])
  return { table: { metadataLocation: locations.at(-1) ?? '', metadata, audited: new Set(audited) } }
}

/** A table that was committed to since, of a catalog that shows one metadata file. */
function ofUuid(uuid: string): Found {
  const { table: found } = table(['later'])
  if (found === undefined) throw new Error('a table is no table')
  return { table: { ...found, metadata: new Map([...found.metadata, ['table-uuid', uuid]]) } }
}

const ofTable = (action: CatalogAction, baseTableUuid: string): CommitIntent => ({
  ...intent(action, 'm1'),
  baseTableUuid,
})

const none = new Map<string, JsonValue>()
const nothingSince = { created: 0, removed: 0, alike: 0, same: 0 }
const decide = (
  of: CommitIntent,
  update: JsonObject,
  found: Found | undefined,
  destination: Found | undefined,
  since: Partial<AuditedChanges> = {},
) => decideAction(of, update, found, destination, { ...nothingSince, ...since })
const kind = (...args: Parameters<typeof decide>) => decide(...args).kind

describe('a creation', () => {
  test('is committed where the first metadata file is new and audited nowhere', () => {
    expect(decide(intent('create-table'), none, table(['m1', 'm2'], ['m2']), undefined)).toEqual({
      kind: 'committed',
      metadataLocation: 'm1',
    })
  })

  test('is not committed where there is no table, or one that another creation explains, or an older one', () => {
    expect(kind(intent('create-table'), none, undefined, undefined)).toBe('not-committed')
    expect(kind(intent('create-table'), none, table(['m1'], ['m1']), undefined, { created: 1 })).toBe(
      'not-committed',
    )
    const old = table(['m1'], [], receivedAtMs - 3_600_000)
    expect(kind(intent('create-table'), none, old, undefined)).toBe('not-committed')
    const oldAndAudited = table(['m1'], ['m1'], receivedAtMs - 3_600_000)
    expect(kind(intent('create-table'), none, oldAndAudited, undefined)).toBe('not-committed')
  })

  test('is undecidable where the oldest file is audited and no creation is: the log may have lost the first', () => {
    expect(kind(intent('create-table'), none, table(['m2', 'm3'], ['m2', 'm3']), undefined)).toBe(
      'undecidable',
    )
    expect(kind(intent('create-table'), none, table(['m2'], ['m2']), undefined)).toBe('undecidable')
  })
})

test('a registration is committed where the table has the registered file in its history', () => {
  const update = jsonObject({ 'metadata-location': 'm1' })
  expect(kind(intent('register-table'), update, table(['m1', 'm2']), undefined)).toBe('committed')
  expect(kind(intent('register-table'), update, table(['m2']), undefined)).toBe('not-committed')
  expect(kind(intent('register-table'), update, undefined, undefined)).toBe('not-committed')
})

test.each(['drop-table', 'unregister-table'] as const)(
  'a %s is committed where the table is gone, or surely another has its name',
  (action) => {
    expect(kind(intent(action, 'm1'), none, undefined, undefined)).toBe('committed')
    expect(kind(ofTable(action, 'u1'), none, ofUuid('u2'), undefined)).toBe('committed')
    expect(kind(intent(action, 'm1'), none, table(['m0', 'm1', 'm2']), undefined)).toBe('not-committed')
    // A catalog that shows no history.
    expect(kind(ofTable(action, 'u1'), none, ofUuid('u1'), undefined)).toBe('not-committed')
    expect(kind(intent(action, 'm1'), none, table(['x1']), undefined)).toBe('undecidable')
  },
)

test('a rename of a table is where its uuid is', () => {
  const rename = ofTable('rename-table', 'u1')
  expect(kind(rename, none, undefined, ofUuid('u1'))).toBe('committed')
  expect(kind(rename, none, ofUuid('u2'), ofUuid('u1'))).toBe('committed')
  expect(kind(rename, none, ofUuid('u1'), ofUuid('u2'))).toBe('not-committed')
  expect(kind(rename, none, ofUuid('u2'), ofUuid('u3'))).toBe('undecidable')
})

test('a rename of a table is where its history is', () => {
  const rename = intent('rename-table', 'm1')
  expect(kind(rename, none, undefined, table(['m1', 'm2']))).toBe('committed')
  expect(kind(rename, none, table(['x1']), table(['m1']))).toBe('committed')
  expect(kind(rename, none, table(['m1', 'm2']), undefined)).toBe('not-committed')
  expect(kind(rename, none, table(['m1']), table(['x1']))).toBe('not-committed')
  expect(kind(rename, none, undefined, undefined)).toBe('undecidable')
})

test('views and namespaces are decided by what is there', () => {
  const there: Found = { viewLocation: 'v1' }
  for (const action of ['create-view', 'register-view', 'create-namespace'] as const) {
    expect(kind(intent(action), none, there, undefined)).toBe('committed')
    expect(kind(intent(action), none, undefined, undefined)).toBe('not-committed')
  }
  for (const action of ['drop-view', 'drop-namespace'] as const) {
    expect(kind(intent(action), none, undefined, undefined)).toBe('committed')
    expect(kind(intent(action), none, there, undefined)).toBe('not-committed')
  }
  expect(kind(intent('rename-view'), none, undefined, there)).toBe('committed')
  expect(kind(intent('rename-view'), none, there, undefined)).toBe('not-committed')
  expect(kind(intent('rename-view'), none, undefined, undefined)).toBe('undecidable')
})

test('a replaced view has moved from its base', () => {
  const replace = intent('replace-view', 'v1')
  expect(kind(replace, none, { viewLocation: 'v2' }, undefined)).toBe('committed')
  expect(kind(replace, none, { viewLocation: 'v1' }, undefined)).toBe('not-committed')
  expect(kind(replace, none, undefined, undefined)).toBe('undecidable')
})

test('updated properties hold, removed ones are gone', () => {
  const update = jsonObject({ updates: jsonObject({ a: '1' }), removals: ['b'] })
  const of = (properties: Record<string, string>) =>
    kind(intent('update-properties'), update, { properties: jsonObject(properties) }, undefined)
  expect(of({ a: '1', c: '2' })).toBe('committed')
  expect(of({ a: '2' })).toBe('not-committed')
  expect(of({ a: '1', b: '2' })).toBe('not-committed')
  expect(kind(intent('update-properties'), update, undefined, undefined)).toBe('undecidable')
})

describe('what was audited of the name since, as when a client asked again, explains what is there', () => {
  const there: Found = { viewLocation: 'v1' }

  test.each(['create-view', 'register-view', 'create-namespace'] as const)('for a %s', (action) => {
    expect(kind(intent(action), none, there, undefined, { created: 1 })).toBe('not-committed')
    // Made, dropped, and made again.
    expect(kind(intent(action), none, there, undefined, { created: 1, removed: 1 })).toBe('committed')
    expect(kind(intent(action), none, there, undefined, { created: 2, removed: 1 })).toBe('not-committed')
    expect(kind(intent(action), none, undefined, undefined, { created: 1, removed: 1 })).toBe('not-committed')
    // Something was dropped that nobody is known to have made.
    expect(kind(intent(action), none, undefined, undefined, { removed: 1 })).toBe('undecidable')
  })

  test.each(['drop-view', 'drop-namespace', 'drop-table', 'unregister-table'] as const)(
    'for a %s',
    (action) => {
      const drop = intent(action, 'm1')
      expect(kind(drop, none, undefined, undefined, { removed: 1 })).toBe('not-committed')
      expect(kind(drop, none, undefined, undefined, { created: 1, removed: 1 })).toBe('committed')
      expect(kind(drop, none, there, undefined, { created: 1 })).toBe('committed')
      expect(kind(drop, none, there, undefined, { created: 1, removed: 1 })).toBe('not-committed')
      expect(kind(drop, none, there, undefined, { removed: 1 })).toBe('undecidable')
    },
  )

  test('for a rename', () => {
    expect(kind(intent('rename-table', 'm1'), none, undefined, table(['m1']), { removed: 1 })).toBe(
      'not-committed',
    )
    expect(kind(intent('rename-view'), none, undefined, there, { removed: 1 })).toBe('not-committed')
    expect(kind(intent('rename-view'), none, undefined, undefined, { removed: 1 })).toBe('not-committed')
    expect(kind(intent('rename-view'), none, there, there, { created: 1 })).toBe('committed')
  })

  test('for a registration and for properties, where it was the very same', () => {
    const register = jsonObject({ 'metadata-location': 'm1' })
    expect(kind(intent('register-table'), register, table(['m1']), undefined, { same: 1 })).toBe(
      'not-committed',
    )
    const update = jsonObject({ updates: jsonObject({ a: '1' }), removals: [] })
    const found = { properties: jsonObject({ a: '1' }) }
    expect(kind(intent('update-properties'), update, found, undefined, { alike: 1 })).toBe('committed')
    expect(kind(intent('update-properties'), update, found, undefined, { alike: 1, same: 1 })).toBe(
      'not-committed',
    )
  })

  test('for a replaced view, which shows by its versions what was made of it', () => {
    const replace = intent('replace-view', 'v1')
    const version = { 'version-id': 2n, 'timestamp-ms': 7n }
    const update = jsonObject({
      updates: [jsonObject({ action: 'add-view-version', 'view-version': jsonObject(version) })],
    })
    const moved = (...versionTimes: bigint[]): Found => ({ viewLocation: 'v3', versionTimes })
    expect(kind(replace, update, moved(1n, 7n, 9n), undefined, { alike: 1 })).toBe('committed')
    expect(kind(replace, update, moved(1n, 9n), undefined, { alike: 1 })).toBe('not-committed')
    expect(kind(replace, none, moved(1n), undefined, { alike: 1 })).toBe('undecidable')
  })
})
