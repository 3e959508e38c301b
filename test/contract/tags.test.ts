/** Tags of tables and columns: inheritance, evidence and history, with a foreign tenant that has the same table. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../src/base/fault.ts'
import type { ChangeContext } from '../../src/contract/change.ts'
import { deleteTag } from '../../src/contract/delete-tag.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putRowFilter } from '../../src/contract/put-row-filter.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { listTableTags, listTagChanges } from '../../src/store/contract/tag-changes.ts'
import { decideFinding, listFindings } from '../../src/store/detection/findings.ts'
import { loadGovernance } from '../../src/store/governance/governance.ts'
import { isMaskedFor, isProtectedAlike } from '../../src/store/governance/protections.ts'
import { listReadableTables } from '../../src/store/governance/readable-tables.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { policiesAtIntent } from '../../src/store/policy/policy-history.ts'
import { actorOf } from '../support/actor.ts'
import { intentOf } from '../support/commits.ts'
import { recordFinding } from '../support/detection-rows.ts'
import { commitColumns } from '../support/governed.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { loadPolicies } from '../support/store-reads.ts'

setDefaultTimeout(300_000)

let store: TestStore
let home: TenantId
let foreign: TenantId
let on: ChangeContext
const analyst = { sub: 'ada', roles: ['analyst'] }

beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
  on = { store, tenant: home, actor: actorOf('stella'), checkPolicies }
})
afterAll(() => store[Symbol.asyncDispose]())

const types = { id: 'string', email: 'string' }
async function made(name: string, columns: Readonly<Record<string, string>> = types): Promise<TableRef> {
  const table = { namespace: ['tagged'], name }
  for (const tenant of [home, foreign]) await commitColumns(store, tenant, table, columns)
  return table
}
const kindOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (fault) => (fault as Fault).kind,
  )
const masksOf = async (table: TableRef, tenant = home) =>
  (await loadGovernance(store, tenant, table))?.columns.map(({ name, masks }) => [name, masks.length])

describe('a tag of a table', () => {
  test('is inherited by every column, also one that a later commit adds or drops', async () => {
    const table = await made('whole')
    await putMask(on, { tag: 'secret' }, { id: 'm', action: 'replace-with-null', exemptRoles: [] })
    await putTag(on, table, undefined, 'secret')
    expect(await masksOf(table)).toEqual([
      ['id', 1],
      ['email', 1],
    ])
    await commitColumns(
      store,
      home,
      table,
      { id: 'string', email: 'string', more: 'string' },
      1_800_000_000_000,
    )
    await commitColumns(store, home, table, { id: 'string' }, 1_900_000_000_000)
    expect(await masksOf(table)).toEqual([
      ['id', 1],
      ['email', 1],
      ['more', 1],
    ])
    expect(await loadGovernance(store, home, table)).toMatchObject({
      tags: ['secret'],
      columns: [{ tags: ['secret'] }, {}, {}],
    })
    expect(await isMaskedFor(store, home, table, analyst)).toBe(true)
    expect(await masksOf(table, foreign)).toEqual([
      ['id', 0],
      ['email', 0],
    ])
    expect(await deleteTag(on, table, undefined, 'secret')).toBe(true)
    expect(await deleteTag(on, table, undefined, 'secret')).toBe(false)
    expect(await isMaskedFor(store, home, table, analyst)).toBe(false)
  })

  test('brings the row filters of the tag, each on every column', async () => {
    const table = await made('rows')
    await putRowFilter(
      on,
      { tag: 'own' },
      { id: 'f', expression: 'this_column = current_principal()', exemptRoles: [] },
    )
    await putTag(on, table, undefined, 'own')
    const governance = await loadGovernance(store, home, table)
    expect(governance?.rowFilters.map(({ fieldId }) => fieldId)).toEqual([1, 2])
    const other = await made('unlike')
    expect(await isProtectedAlike(store, home, table, other)).toBe(false)
    await putTag(on, other, undefined, 'own')
    expect(await isProtectedAlike(store, home, table, other)).toBe(true)
  })

  test('is refused where a mask of it does not fit a column, also when the mask comes later', async () => {
    const table = await made('unfit', { id: 'long', at: 'timestamp' })
    await putMask(on, { tag: 'text' }, { id: 'm', action: 'mask-alphanum', exemptRoles: [] })
    expect(await kindOf(putTag(on, table, undefined, 'text'))).toBe('unprocessable')
    await putTag(on, table, undefined, 'later')
    const mask = { id: 'm', action: 'mask-alphanum', exemptRoles: [] } as const
    expect(await kindOf(putMask(on, { tag: 'later' }, mask))).toBe('unprocessable')
    expect(await masksOf(table)).toEqual([
      ['id', 0],
      ['at', 0],
    ])
  })

  test('needs a table of which a column is known, because a tag without one protects nothing', async () => {
    const unknown = { namespace: ['tagged'], name: 'unknown' }
    expect(await kindOf(putTag(on, unknown, undefined, 'secret'))).toBe('not_found')
  })

  test('shows its columns as masked to SQL clients', async () => {
    const table = await made('listed')
    await store.tenantTransaction(home, (tx) =>
      tx.query(`insert into svc.read_setting (tenant_id, uncontracted) values ($1, 'readable')`, [home]),
    )
    await putTag(on, table, undefined, 'secret')
    const { items } = await listReadableTables(store, home, 'anyone')
    const listed = items.find(({ ref }) => ref.name === 'listed')
    expect(listed?.columns.map(({ masked }) => masked)).toEqual([true, true])
  })

  test('is governed by the commit policies of the tag', async () => {
    const table = await made('written')
    const policy = { kind: 'schema', mode: 'enforce', name: 'p', message: '', definitionCel: 'true' } as const
    await putPolicy(store, home, { tag: 'frozen' }, { id: 'frozen', ...policy })
    expect(await loadPolicies(store, home, table)).toEqual([])
    await putTag(on, table, undefined, 'frozen')
    expect((await loadPolicies(store, home, table)).map(({ id }) => id)).toEqual(['frozen'])
    expect(await loadPolicies(store, foreign, table)).toEqual([])
    const intent = intentOf({ table })
    await openIntent(store, home, intent)
    await deleteTag(on, table, undefined, 'frozen')
    await putPolicy(store, home, { tag: 'after' }, { id: 'after', ...policy })
    await putTag(on, table, 'id', 'after')
    expect(await loadPolicies(store, home, table)).toMatchObject([{ id: 'after' }])
    const stood = await policiesAtIntent(store, home, table, intent.commitId)
    expect(stood.map(({ id }) => id)).toEqual(['frozen'])
  })

  test('is another one than a tag of a column with the same words', async () => {
    const deep = { namespace: ['tagged', 'deep'], name: '1' }
    const flat = { namespace: ['tagged'], name: 'deep' }
    for (const table of [deep, flat]) await commitColumns(store, home, table, types)
    await putTag(on, deep, undefined, 'x')
    await putTag(on, flat, 'id', 'x')
    expect((await listTableTags(store, home, deep)).map(({ tag, column }) => [tag, column])).toEqual([
      ['x', undefined],
    ])
    expect((await listTableTags(store, home, flat)).map(({ tag, column }) => [tag, column])).toEqual([
      ['x', 'id'],
    ])
  })
})

describe('the evidence of a tag', () => {
  test('says who set it, how and on what, and stays in the history once the tag is removed', async () => {
    const table = await made('told')
    await putTag(on, table, 'email', 'pii', { note: 'seen in the form' })
    await putTag(on, table, undefined, 'internal', { source: 'import', note: 'catalog of 2025' })
    expect(await listTableTags(store, home, table)).toMatchObject([
      { tag: 'internal', column: undefined, setBy: { source: 'import', by: 'stella' } },
      { tag: 'pii', column: 'email', setBy: { source: 'person', evidence: { note: 'seen in the form' } } },
    ])
    await deleteTag({ ...on, actor: actorOf('root') }, table, 'email', 'pii')
    expect(await listTableTags(store, home, table)).toHaveLength(1)
    const history = await listTagChanges(store, home, { table, limit: 2 })
    const rest = await listTagChanges(store, home, { table, after: history.next })
    expect([...history.items, ...rest.items]).toMatchObject([
      { action: 'removed', tag: 'pii', column: 'email', by: 'root', actor: { sub: 'root' } },
      { action: 'set', tag: 'internal', column: undefined, source: 'import' },
      { action: 'set', tag: 'pii', column: 'email', by: 'stella', source: 'person' },
    ])
    expect((await listTagChanges(store, home, { tag: 'pii', column: 'email', table })).items).toHaveLength(2)
    expect((await listTagChanges(store, foreign, {})).items).toEqual([])
    expect(await listTableTags(store, foreign, table)).toEqual([])
  })

  test('of detection is its finding, and of a decision the person who made it', async () => {
    const table = await made('found')
    await recordFinding(store, home, table, { fieldId: 2n, columnName: 'email' })
    const [finding] = (await listFindings(store, home, { table })).items
    const id = finding?.id ?? ''
    expect(await listTableTags(store, home, table)).toMatchObject([
      {
        tag: 'sensitive.email',
        column: 'email',
        setBy: { source: 'classifier', by: undefined, evidence: { finding: id } },
      },
    ])
    const decide = (decision: 'confirm' | 'reject') =>
      store.tenantTransaction(home, (tx) =>
        decideFinding(tx, home, id, { decision, reason: 'looked', actor: actorOf('stella') }),
      )
    await decide('confirm')
    await decide('confirm')
    await decide('reject')
    expect((await listTagChanges(store, home, { table })).items).toMatchObject([
      { action: 'removed', source: 'person', by: 'stella', evidence: { finding: id, note: 'looked' } },
      { action: 'confirmed', source: 'person', by: 'stella' },
      { action: 'set', source: 'classifier' },
    ])
    expect(await listTableTags(store, home, table)).toEqual([])
    // A tag that a person puts may rest on the finding, in this tenant alone.
    await putTag(on, table, 'email', 'pii', { finding: id })
    expect(await kindOf(putTag({ ...on, tenant: foreign }, table, 'email', 'pii', { finding: id }))).toBe(
      'unprocessable',
    )
  })

  test.each([
    ['a document without a version', { source: 'document' }, 'bad_request'],
    ['half a version', { contract: 'c' }, 'bad_request'],
    [
      'a version that is not there',
      { source: 'document', contract: 'c', contractVersion: 1 },
      'unprocessable',
    ],
    ['a finding that is not there', { finding: crypto.randomUUID() }, 'unprocessable'],
    ['a note that is too long', { note: 'x'.repeat(100_000) }, 'bad_request'],
  ] as const)('is refused for %s, and nothing is tagged', async (_, reason, kind) => {
    const table = await made('refused')
    expect(await kindOf(putTag(on, table, 'id', 'pii', reason))).toBe(kind)
    expect(await listTableTags(store, home, table)).toEqual([])
  })

  test('is never altered', async () => {
    for (const text of ["update svc.tag_change set tag = 'x'", 'delete from svc.tag_change'])
      expect(await kindOf(store.tenantQuery(home, text))).toBeDefined()
  })
})
