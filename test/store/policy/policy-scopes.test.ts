/** Policies that are bound to namespaces and tags, with a foreign tenant that has the same names. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { ChangeContext } from '../../../src/contract/change.ts'
import { deleteTag } from '../../../src/contract/delete-tag.ts'
import { putTag } from '../../../src/contract/put-tag.ts'
import type { Policy, PolicyScope } from '../../../src/core/policy.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import type { Tx } from '../../../src/store/database/session.ts'
import { findPolicy } from '../../../src/store/policy/find-policy.ts'
import {
  deletePolicy,
  type GovernanceRow,
  loadPoliciesBelow,
  putPolicy,
  readWriteGovernance,
} from '../../../src/store/policy/policies.ts'
import { listPolicyChanges, policiesAtIntent } from '../../../src/store/policy/policy-history.ts'
import { namespaceIds } from '../../../src/store/policy/policy-scope.ts'
import { unbindPolicy } from '../../../src/store/policy/unbind-policy.ts'
import { actorOf } from '../../support/actor.ts'
import { intentOf } from '../../support/commits.ts'
import { commitColumns } from '../../support/governed.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { loadPolicies } from '../../support/store-reads.ts'

setDefaultTimeout(300_000)

let store: TestStore
let home: TenantId
let foreign: TenantId

beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

const stella = actorOf('stella')
const policyOf = (id: string, change: Partial<Policy> = {}): Policy => ({
  id,
  kind: 'schema',
  mode: 'enforce',
  name: id,
  message: '',
  definitionCel: 'true',
  ...change,
})
const put = (scope: PolicyScope, id: string, change: Partial<Policy> = {}, tenant = home) =>
  putPolicy(store, tenant, scope, policyOf(id, change), stella)
const table = (...levels: string[]): TableRef => ({
  namespace: levels.slice(0, -1),
  name: levels.at(-1) ?? '',
})
const governing = async (ref: TableRef, tenant = home) =>
  (await loadPolicies(store, tenant, ref)).map(({ id, scope }) => [id, scope] as const)
const ids = async (ref: TableRef, tenant = home) => (await governing(ref, tenant)).map(([id]) => id)

describe('a policy of a namespace', () => {
  test('governs every table in it and below it, also one that no commit has named, and no other', async () => {
    await put({ namespace: ['sales'] }, 'sales')
    await put({ namespace: ['sales', 'eu'] }, 'sales-eu', { kind: 'retention' })
    expect(await governing(table('sales', 'orders'))).toEqual([['sales', { namespace: ['sales'] }]])
    expect(await governing(table('sales', 'eu', 'orders'))).toEqual([
      ['sales', { namespace: ['sales'] }],
      ['sales-eu', { namespace: ['sales', 'eu'] }],
    ])
    expect(await ids(table('sales', 'eu', 'north', 'orders'))).toEqual(['sales', 'sales-eu'])
    for (const other of [table('sales2', 'orders'), table('eu', 'orders'), table('x', 'sales')])
      expect(await ids(other)).toEqual([])
    expect(await ids(table('sales', 'orders'), foreign)).toEqual([])
  })

  test('is not one of a table with the same key', async () => {
    await put(table('twin', 'a'), 'of-table')
    await put({ namespace: ['twin', 'a'] }, 'of-table')
    expect(await governing(table('twin', 'a'))).toEqual([['of-table', undefined]])
    expect(await governing(table('twin', 'a', 'b'))).toEqual([['of-table', { namespace: ['twin', 'a'] }]])
    expect(await ids(table('twin', 'b'))).toEqual([])
  })

  test('may be of the root namespace: then it governs every table of the tenant', async () => {
    await put({ namespace: [] }, 'root')
    expect(await governing(table('any', 'where'))).toEqual([['root', { namespace: [] }]])
    expect(await ids(table('any', 'where'), foreign)).toEqual([])
    expect(await deletePolicy(store, foreign, 'root')).toBe(false)
    expect(await deletePolicy(store, home, 'root')).toBe(true)
    expect(await ids(table('any', 'where'))).toEqual([])
  })

  test('is evaluated once where it is bound in several ways, in id order with all others', async () => {
    const ref = table('order', 'inner', 't')
    await put({ namespace: ['order'] }, 'b')
    await put({ namespace: ['order', 'inner'] }, 'b')
    await put(ref, 'c')
    await put({ namespace: ['order'] }, 'c')
    await put({ namespace: ['order'] }, 'a')
    expect(await governing(ref)).toEqual([
      ['a', { namespace: ['order'] }],
      ['b', { namespace: ['order', 'inner'] }],
      ['c', undefined],
    ])
  })

  test('with names too long for an index governs like any other', async () => {
    const namespace = Array.from({ length: 100 }, (_, index) => `${'n'.repeat(250)}${index}`)
    await put({ namespace }, 'long')
    expect(await ids({ namespace, name: 't' })).toEqual(['long'])
    expect(await ids({ namespace: [...namespace, 'more'], name: 't' })).toEqual(['long'])
    expect(await ids({ namespace: namespace.slice(0, -1), name: 't' })).toEqual([])
  })
})

describe('a policy of a tag', () => {
  const people = table('hr', 'people')
  let on: ChangeContext
  beforeAll(async () => {
    for (const tenant of [home, foreign]) {
      await commitColumns(store, tenant, people, { id: 'long', email: 'string' })
      await commitColumns(store, tenant, table('hr', 'other'), { id: 'long' })
    }
    on = { store, tenant: home, actor: stella, checkPolicies }
  })

  test('governs a table from the moment that a column of it has the tag', async () => {
    await put({ tag: 'pii' }, 'pii-writers', { kind: 'write_acl' })
    expect(await ids(people)).toEqual([])
    await putTag(on, people, 'email', 'pii')
    await putTag({ ...on, tenant: foreign }, people, 'email', 'pii')
    expect(await governing(people)).toEqual([['pii-writers', { tag: 'pii' }]])
    expect(await ids(table('hr', 'other'))).toEqual([])
    expect(await ids(people, foreign)).toEqual([])
    expect(await deleteTag(on, people, 'email', 'pii')).toBe(true)
    expect(await ids(people)).toEqual([])
  })

  test('stays while a dropped column has the tag, whose values older snapshots hold', async () => {
    const shrunk = table('hr', 'shrunk')
    await commitColumns(store, home, shrunk, { id: 'long', email: 'string' })
    await putTag(on, shrunk, 'email', 'pii')
    await commitColumns(store, home, shrunk, { id: 'long' }, 1_800_000_000_000)
    expect(await ids(shrunk)).toEqual(['pii-writers'])
    expect(await deleteTag(on, shrunk, 'email', 'pii')).toBe(true)
    expect(await ids(shrunk)).toEqual([])
  })
})

describe('a namespace as a whole', () => {
  test('is governed by the policies of what is above it, in it and below it', async () => {
    const on = { store, tenant: home, actor: stella, checkPolicies }
    await commitColumns(store, home, table('a', 'b', 'tagged'), { id: 'long' })
    await put({ namespace: [] }, '1-root')
    await put({ namespace: ['a'] }, '2-above')
    await put({ namespace: ['a', 'b'] }, '3-itself')
    await put({ namespace: ['a', 'b', 'c'] }, '4-below')
    await put(table('a', 'b', 't'), '5-table')
    await put({ tag: 'below' }, '6-tag')
    await putTag(on, table('a', 'b', 'tagged'), 'id', 'below')
    for (const other of [{ namespace: ['z'] }, { namespace: ['a', 'z'] }, { tag: 'other' }, table('a', 'z')])
      await put(other, '7-other')
    const below = async (tenant: TenantId) =>
      (await loadPoliciesBelow(store, tenant, ['a', 'b'])).map(({ id }) => id)
    expect(await below(home)).toEqual(['1-root', '2-above', '3-itself', '4-below', '5-table', '6-tag'])
    expect(await below(foreign)).toEqual([])
    await deletePolicy(store, home, '1-root')
  })
})

test.each([
  'delete from "SCHEMA_GOVERNS" where properties::text like \'%"namespace"%\'',
  'delete from "SCHEMA_GOVERNS" where properties::text like \'%"tag"%\'',
  'delete from "TAGGED"',
  'delete from "HAS_COLUMN"',
  'delete from "Namespace"',
])('without the tenant’s sentinel there is no verdict: %s', async (text) => {
  const undone = new Error('undone')
  const load = async (tx: Tx) => {
    const [row] = await tx.query<GovernanceRow>(
      'select governance, territory from svc.load_policies($1, $2, $3, $4)',
      [foreign, 'a\u001fb', '[]', JSON.stringify(namespaceIds(['a']))],
    )
    return readWriteGovernance(row).policies
  }
  const work = store.tenantTransaction(foreign, async (tx) => {
    expect(await load(tx)).toEqual([])
    await tx.script(text)
    expect(await load(tx).catch((fault) => fault.kind)).toBe('policy_engine_unavailable')
    throw undone
  })
  expect(await work.catch((thrown) => thrown)).toBe(undone)
})

describe('unbinding', () => {
  const unbind = async (scope: PolicyScope, id: string, tenant = home) => {
    const [outcome] = await Promise.allSettled([unbindPolicy(store, tenant, id, scope, stella)])
    return outcome.status === 'rejected' ? (outcome.reason as { kind: string }).kind : 'ended'
  }

  test('ends one binding of each sort; the policy governs the rest as before', async () => {
    const ref = table('un', 'bound', 't')
    const scopes = [
      ref,
      { namespace: ['un'] },
      { namespace: ['un', 'bound'] },
      { tag: 'un' },
      { namespace: [] },
    ]
    for (const kind of ['schema', 'write_acl', 'retention'] as const)
      for (const scope of scopes) await put(scope, `un-${kind}`, { kind })
    const all = ['un-retention', 'un-schema', 'un-write_acl']
    for (const [index, scope] of scopes.entries()) {
      expect(await ids(ref)).toEqual(all)
      for (const id of all)
        expect(await unbind(scope, id)).toBe(index === scopes.length - 1 ? 'conflict' : 'ended')
    }
    expect(await ids(table('else', 'where'))).toEqual(all)
    for (const id of all) {
      expect((await findPolicy(store, home, id))?.scopes).toEqual([{ namespace: [] }])
      await deletePolicy(store, home, id)
    }
  })

  test('leaves every other binding, and the policy may be bound again', async () => {
    await put(table('twice', 'a'), 'twice')
    await put({ namespace: ['twice', 'a'] }, 'twice')
    await put({ namespace: ['twice'] }, 'other')
    expect(await unbind({ namespace: ['twice', 'a'] }, 'twice')).toBe('ended')
    expect(await governing(table('twice', 'a'))).toEqual([
      ['other', { namespace: ['twice'] }],
      ['twice', undefined],
    ])
    expect(await ids(table('twice', 'a', 'b'))).toEqual(['other'])
    await put({ namespace: ['twice', 'a'] }, 'twice')
    expect(await ids(table('twice', 'a', 'b'))).toEqual(['other', 'twice'])
  })

  test('is refused where there is no such policy or binding, for another tenant, and for what follows from a contract', async () => {
    await put(table('here', 'a'), 'here')
    await put(table('here', 'b'), 'here')
    await put(table('here', 'c'), 'there')
    expect(await unbind(table('here', 'a'), 'none')).toBe('not_found')
    expect(await unbind(table('here', 'a'), '')).toBe('not_found')
    expect(await unbind(table('here', 'c'), 'here')).toBe('not_found')
    expect(await unbind({ tag: 'never-seen' }, 'here')).toBe('not_found')
    expect(await unbind({ namespace: ['here', 'a'] }, 'here')).toBe('not_found')
    expect(await unbind(table('here', 'a'), 'here', foreign)).toBe('not_found')
    expect(await unbind(table('here', 'a'), 'contract:here')).toBe('conflict')
    for (const name of ['a', 'b']) expect(await ids(table('here', name))).toEqual(['here'])
  })

  test('of the last two bindings at once leaves one', async () => {
    await put(table('race', 'a'), 'race')
    await put(table('race', 'b'), 'race')
    const outcomes = await Promise.all([
      unbind(table('race', 'a'), 'race'),
      unbind(table('race', 'b'), 'race'),
    ])
    expect(outcomes.toSorted()).toEqual(['conflict', 'ended'])
    expect((await findPolicy(store, home, 'race'))?.scopes).toHaveLength(1)
  })

  test('leaves a change in the history that names the binding, with an equal text before and after', async () => {
    await put(table('told', 'a'), 'retold')
    await put({ tag: 'told' }, 'retold')
    await unbindPolicy(store, home, 'retold', { tag: 'told' }, actorOf('una'))
    await put(table('told', 'a'), 'retold', { definitionCel: 'false' })
    const { items } = await listPolicyChanges(store, home, 'retold', {})
    expect(items).toMatchObject([
      { unbinds: false, before: policyOf('retold'), after: { definitionCel: 'false' } },
      {
        unbinds: true,
        actor: { sub: 'una' },
        scope: { tag: 'told' },
        before: policyOf('retold'),
        after: policyOf('retold'),
      },
      { unbinds: false, scope: { tag: 'told' } },
      { unbinds: false, before: undefined },
    ])
  })
})

describe('the record of a policy', () => {
  test('shows all that it is bound to, and nothing to another tenant', async () => {
    for (const scope of [table('a', 'b'), { namespace: ['a'] }, { tag: 'pii' }]) await put(scope, 'bound')
    const found = await findPolicy(store, home, 'bound')
    expect(found?.policy).toEqual(policyOf('bound'))
    expect(found?.scopes).toHaveLength(3)
    expect(found?.scopes).toContainEqual({ namespace: ['a'] })
    expect(found?.scopes).toContainEqual(table('a', 'b'))
    expect(found?.scopes).toContainEqual({ tag: 'pii' })
    expect(await findPolicy(store, foreign, 'bound')).toBeUndefined()
    expect(await findPolicy(store, home, '')).toBeUndefined()
  })

  test('says who changed what, before and after, newest first and page by page, also once it is removed', async () => {
    await put({ namespace: ['h'] }, 'told', { definitionCel: 'true' })
    await put({ tag: 'pii' }, 'told', { definitionCel: 'false', mode: 'warn' })
    await deletePolicy(store, home, 'told', actorOf('root'))
    const first = await listPolicyChanges(store, home, 'told', { limit: 2 })
    const rest = await listPolicyChanges(store, home, 'told', { limit: 2, after: first.next })
    expect([...first.items, ...rest.items]).toMatchObject([
      { actor: { sub: 'root' }, scope: undefined, before: { definitionCel: 'false' }, after: undefined },
      {
        actor: { sub: 'stella' },
        scope: { tag: 'pii' },
        before: { definitionCel: 'true', mode: 'enforce' },
        after: { definitionCel: 'false', mode: 'warn' },
      },
      { scope: { namespace: ['h'] }, before: undefined, after: { definitionCel: 'true' } },
    ])
    expect(rest.next).toBeUndefined()
    expect((await listPolicyChanges(store, foreign, 'told', {})).items).toEqual([])
  })

  test('holds the policies of an open intent, also those of its namespaces and tags', async () => {
    const ref = table('past', 'in', 't')
    await commitColumns(store, home, ref, { id: 'long' })
    await putTag({ store, tenant: home, actor: stella, checkPolicies }, ref, 'id', 'seen')
    await put({ namespace: ['past'] }, 'above')
    await put({ namespace: ['past', 'other'] }, 'beside')
    await put({ tag: 'seen' }, 'tagged')
    await put({ namespace: ['past'] }, 'gone')
    await deletePolicy(store, home, 'gone')
    for (const id of ['unbound', 'rebound', 'until-now']) {
      await put({ namespace: ['past'] }, id)
      await put(table('elsewhere', id), id)
    }
    for (const id of ['unbound', 'rebound']) await unbindPolicy(store, home, id, { namespace: ['past'] })
    await put({ namespace: ['past'] }, 'rebound')
    const intent = intentOf({ table: ref })
    await openIntent(store, home, intent)
    await unbindPolicy(store, home, 'until-now', { namespace: ['past'] })
    await put({ namespace: ['past'] }, 'later')
    await put({ namespace: ['past'] }, 'above', { definitionCel: 'false' })
    const stood = await policiesAtIntent(store, home, ref, intent.commitId)
    expect(stood.map(({ id, scope, definitionCel }) => [id, scope, definitionCel])).toEqual([
      ['above', { namespace: ['past'] }, 'true'],
      ['rebound', { namespace: ['past'] }, 'true'],
      ['tagged', { tag: 'seen' }, 'true'],
      ['until-now', { namespace: ['past'] }, 'true'],
    ])
    expect(await policiesAtIntent(store, foreign, ref, intent.commitId)).toEqual([])
  })
})
