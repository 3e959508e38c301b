import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  appendSnapshot,
  createTable,
  firstSnapshotId,
  orderFields,
  schemaOf,
  setProperties,
} from '../../../demo/commits.ts'
import type { ChangeContext } from '../../../src/contract/change.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { putRowFilter } from '../../../src/contract/put-row-filter.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { addTenant, audit, startTestService, type TestService } from '../../support/service.ts'
import { govern, messageOf, send } from '../../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

let counter = 0
/** A name in sales that nobody has used. */
function fresh(): TableRef {
  return { namespace: ['sales'], name: `t${++counter}` }
}
const steward = { roles: ['steward'] }
const stewardsOnly = 'principal.role(principal, "steward")'
const keepId = 'manifest.has_column(commit.result, "id")'

async function create(table: TableRef, options = {}, fields = orderFields): Promise<Response> {
  return await send(service, 'POST', '/namespaces/sales/tables', createTable(table.name, fields), options)
}
async function made(table: TableRef): Promise<TableRef> {
  expect((await create(table)).status).toBe(200)
  return table
}
function rename(source: TableRef, destination: TableRef, options = {}): Promise<Response> {
  return send(service, 'POST', '/tables/rename', { source, destination }, options)
}
async function exists({ name }: TableRef): Promise<boolean> {
  return (await send(service, 'HEAD', `/namespaces/sales/tables/${name}`)).status === 204
}
async function metadataLocation({ name }: TableRef): Promise<string> {
  const loaded = await send(service, 'GET', `/namespaces/sales/tables/${name}`)
  return ((await loaded.json()) as { 'metadata-location': string })['metadata-location']
}
async function expectDenied(response: Promise<Response>, reason: string): Promise<void> {
  const answered = await response
  expect(await messageOf(answered)).toBe(`policy denied: ${reason}`)
  expect(answered.status).toBe(403)
}

describe('creation', () => {
  test('is judged against the metadata that it would make, staged or not', async () => {
    const table = fresh()
    await govern(service, table, `id-${table.name}`, 'schema', keepId)
    await govern(service, table, `acl-${table.name}`, 'write_acl', stewardsOnly)
    const without = createTable(table.name, orderFields.slice(1))
    for (const body of [without, without.replace('{', '{"stage-create":true,')])
      await expectDenied(send(service, 'POST', '/namespaces/sales/tables', body, steward), `id-${table.name}`)
    expect((await create(table, steward)).status).toBe(200)
  })

  test('on a governed name needs a write policy that allows it', async () => {
    const table = fresh()
    await govern(service, table, `id-${table.name}`, 'schema', keepId)
    await expectDenied(create(table), `no write policy of sales.${table.name} allows create-table`)
    await govern(service, table, `acl-${table.name}`, 'write_acl', stewardsOnly)
    await expectDenied(create(table), `acl-${table.name}`)
    expect(await exists(table)).toBe(false)
  })

  test('by a commit that asserts it needs the same, even where the name has a retention policy only', async () => {
    const table = fresh()
    await govern(service, table, `week-${table.name}`, 'retention', 'true')
    const creation = { requirements: [{ type: 'assert-create' }], updates: [] }
    await expectDenied(
      send(service, 'POST', `/namespaces/sales/tables/${table.name}`, creation),
      `no write policy of sales.${table.name} allows create-table`,
    )
  })

  test('names its format version so that no catalog reads another', async () => {
    const table = fresh()
    await govern(service, table, `old-${table.name}`, 'write_acl', 'table.format_version < 3')
    const of = (version: unknown) =>
      JSON.stringify({ ...JSON.parse(createTable(table.name)), properties: { 'format-version': version } })
    const creating = (version: unknown) => send(service, 'POST', '/namespaces/sales/tables', of(version))
    await expectDenied(creating('3'), `old-${table.name}`)
    const before = service.catalog.faults.counts.other
    for (const version of ['03', '+3', ' 3', '3.0', 3]) expect((await creating(version)).status).toBe(400)
    expect(service.catalog.faults.counts.other).toBe(before)
    expect((await creating('2')).status).toBe(200)
  })

  test('that only policies in mode shadow would judge is left to the catalog, too', async () => {
    const table = fresh()
    await govern(service, table, `aside-${table.name}`, 'schema', keepId, { mode: 'shadow' })
    const before = service.catalog.faults.counts.other
    const strange = createTable(table.name, orderFields, { 'format-version': '03' })
    await send(service, 'POST', '/namespaces/sales/tables', strange)
    expect(service.catalog.faults.counts.other).toBe(before + 1)
    expect((await create(table)).status).toBe(200)
  })

  test('that no policy governs is left to the catalog', async () => {
    const strange = createTable(fresh().name).replace('"long"', '"a type from the future"')
    expect((await send(service, 'POST', '/namespaces/sales/tables', strange)).status).toBe(200)
  })

  test('shows policies one update with the action’s name and the request’s members', async () => {
    const table = fresh()
    await govern(
      service,
      table,
      `sees-${table.name}`,
      'write_acl',
      `size(commit.updates) == 1 && commit.updates[0].action == "create-table" &&
       commit.updates[0].name == "${table.name}" && commit.requirements[0].type == "assert-create" &&
       table.name == "${table.name}" && manifest.has_column(table, "id")`,
    )
    expect((await create(table)).status).toBe(200)
  })

  test('cannot disguise its action', async () => {
    const table = fresh()
    await govern(
      service,
      table,
      `is-${table.name}`,
      'write_acl',
      'commit.updates[0].action != "create-table"',
    )
    const body = createTable(table.name).replace('{', '{"action":"set-properties",')
    await expectDenied(send(service, 'POST', '/namespaces/sales/tables', body), `is-${table.name}`)
  })

  test('that is staged leaves nothing upstream and no approval', async () => {
    const table = fresh()
    const body = createTable(table.name).replace('{', '{"stage-create":true,')
    const staged = await send(service, 'POST', '/namespaces/sales/tables', body)
    expect(staged.status).toBe(200)
    expect(await staged.text()).toContain('"metadata":{')
    expect(await exists(table)).toBe(false)
    expect((await audit(service)).filter((row) => row.table.name === table.name)).toEqual([])
  })

  test('with a flag that is no bool is 400, because an upstream might read more into it', async () => {
    const body = createTable(fresh().name).replace('{', '{"stage-create":"true",')
    expect((await send(service, 'POST', '/namespaces/sales/tables', body)).status).toBe(400)
  })
})

describe('a rename', () => {
  test('out of a governed name is denied where the new name is governed less', async () => {
    const table = await made(fresh())
    const to = fresh()
    await govern(service, table, `acl-${table.name}`, 'write_acl', stewardsOnly)
    await expectDenied(rename(table, to), `acl-${table.name}`)
    const less = `sales.${to.name} is governed less than sales.${table.name}: policy acl-${table.name} does not apply there`
    await expectDenied(rename(table, to, steward), less)
    await govern(service, to, `other-${to.name}`, 'write_acl', 'true')
    await expectDenied(rename(table, to, steward), less)
    await govern(service, to, `acl-${table.name}`, 'write_acl', stewardsOnly)
    expect((await rename(table, to, steward)).status).toBe(204)
    expect(await exists(to)).toBe(true)
  })

  test('into a governed name is judged by that name’s policies, on the metadata that comes', async () => {
    const table = fresh()
    expect((await create(table, {}, orderFields.slice(1))).status).toBe(200)
    const to = fresh()
    await govern(service, to, `id-${to.name}`, 'schema', keepId)
    await expectDenied(rename(table, to), `id-${to.name}`)
    const [row] = await audit(service)
    expect(row).toMatchObject({ action: 'rename-table', decision: 'REJECTED', table: to })
    const fit = await made(fresh())
    await expectDenied(rename(fit, to), `no write policy of sales.${to.name} allows rename-table`)
  })

  test('between governed names is judged by both', async () => {
    const table = await made(fresh())
    const to = fresh()
    for (const name of [table, to]) await govern(service, name, `both-${table.name}`, 'write_acl', 'true')
    await govern(service, to, `to-${to.name}`, 'write_acl', stewardsOnly)
    await expectDenied(rename(table, to), `to-${to.name}`)
    expect((await rename(table, to, steward)).status).toBe(204)
    expect((await audit(service))[0]).toMatchObject({
      action: 'rename-table',
      decision: 'APPROVED',
      table,
      metadataLocation: undefined,
    })
  })

  const protections = [
    [
      'row filter',
      (on: ChangeContext, table: TableRef, exemptRoles: readonly string[]) =>
        putRowFilter(on, { table }, { id: 'some', expression: 'id > 0', exemptRoles }),
    ],
    [
      'column mask',
      (on: ChangeContext, table: TableRef, exemptRoles: readonly string[]) =>
        putMask(on, { table, column: 'amount' }, { id: 'hide', action: 'replace-with-null', exemptRoles }),
    ],
  ] as const
  test.each(protections)(
    'is denied where a %s does not govern the new name, even to whom it exempts',
    async (_what, put) => {
      const { store, owner } = service
      const table = await made(fresh())
      const to = await made(fresh())
      const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies: () => [] }
      const session = {
        name: table.name,
        principal: { sub: 'ada', roles: ['officer'] },
        scopes: ['commit'],
      } as const
      const { secret } = await createServiceSession(store, owner.tenant, session)
      const officer = { tenant: { ...owner, secret }, headers: { authorization: 'Bearer None' } }
      await put(on, table, ['officer'])
      // The new name keeps what governs its columns when its table goes.
      await put(on, to, ['officer', 'spark'])
      expect((await send(service, 'DELETE', `/namespaces/sales/tables/${to.name}`)).status).toBe(204)
      const less = `sales.${to.name} is governed less than sales.${table.name}: its filters and masks do not apply there`
      await expectDenied(rename(table, to, officer), less)
      await put(on, to, ['officer'])
      expect((await rename(table, to, officer)).status).toBe(204)
    },
  )

  test('of a name that no policy governs is free, and audited', async () => {
    const table = await made(fresh())
    const response = await rename(table, fresh())
    expect(response.status).toBe(204)
    expect((await audit(service))[0]?.commitId).toBe(response.headers.get('x-svc-decision-id') ?? '')
  })
})

describe('a drop', () => {
  test('of a governed name needs a write policy that allows it, and the name stays governed', async () => {
    const table = await made(fresh())
    const path = `/namespaces/sales/tables/${table.name}`
    await govern(service, table, `id-${table.name}`, 'schema', keepId)
    await expectDenied(
      send(service, 'DELETE', path),
      `no write policy of sales.${table.name} allows drop-table`,
    )
    await govern(service, table, `acl-${table.name}`, 'write_acl', stewardsOnly)
    await expectDenied(send(service, 'DELETE', path), `acl-${table.name}`)
    expect((await send(service, 'DELETE', path, undefined, steward)).status).toBe(204)
    expect(await exists(table)).toBe(false)
    await expectDenied(create(table), `acl-${table.name}`)
    await expectDenied(create(table, steward, orderFields.slice(1)), `id-${table.name}`)
    expect((await create(table, steward)).status).toBe(200)
  })

  test('with purge is also judged as the expiry of every snapshot', async () => {
    const table = await made(fresh())
    const path = `/namespaces/sales/tables/${table.name}`
    const append = appendSnapshot({ snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() })
    expect((await send(service, 'POST', path, append)).status).toBe(200)
    await govern(service, table, `acl-${table.name}`, 'write_acl', 'true')
    await govern(
      service,
      table,
      `week-${table.name}`,
      'retention',
      `commit.updates.all(u, u.action != "remove-snapshots" || table.snapshots.all(s,
        !(s.snapshot_id in u["snapshot-ids"]) || commit.received_at - s.timestamp_ms >= 604800000))`,
    )
    await expectDenied(send(service, 'DELETE', `${path}?purgeRequested=true`), `week-${table.name}`)
    expect((await send(service, 'DELETE', `${path}?purgeRequested=maybe`)).status).toBe(400)
    expect((await send(service, 'DELETE', `${path}?purgeRequested=false`)).status).toBe(204)
  })

  test('of a table that does not exist is 404', async () => {
    expect((await send(service, 'DELETE', '/namespaces/sales/tables/nothing')).status).toBe(404)
  })
})

describe('a registration over a governed name', () => {
  test('needs a write policy that allows it, and is denied where a schema policy could not be judged', async () => {
    const location = await metadataLocation(await made(fresh()))
    const table = fresh()
    const register = (options = {}) =>
      send(
        service,
        'POST',
        '/namespaces/sales/register',
        { name: table.name, 'metadata-location': location },
        options,
      )
    await govern(service, table, `acl-${table.name}`, 'write_acl', stewardsOnly)
    await expectDenied(register(), `acl-${table.name}`)
    await govern(service, table, `id-${table.name}`, 'schema', 'true')
    await expectDenied(
      register(steward),
      `id-${table.name}: the metadata file to register cannot be evaluated beforehand`,
    )
  })

  test('is free on a name that no policy governs where the tenant has neither filters nor masks', async () => {
    const unmasked = { tenant: await addTenant(service.store, 'unmasked', service.catalog.url) }
    const location = await metadataLocation(await made(fresh()))
    const free = { name: fresh().name, 'metadata-location': location }
    expect((await send(service, 'POST', '/namespaces/sales/register', free, unmasked)).status).toBe(200)
    const [row] = await audit(service, unmasked.tenant.tenant)
    expect(row).toMatchObject({ action: 'register-table', metadataLocation: location })
  })

  test('needs one on every name where the tenant has a filter or mask, which does not follow the file', async () => {
    const { store, owner } = service
    const table = await made(fresh())
    const location = await metadataLocation(table)
    const on = { store, tenant: owner.tenant, actor: actorOf('stella'), checkPolicies: () => [] }
    await putMask(
      on,
      { table, column: 'amount' },
      { id: 'conceal', action: 'replace-with-null', exemptRoles: [] },
    )
    const alias = fresh()
    const body = { name: alias.name, 'metadata-location': location }
    const register = (options = {}) => send(service, 'POST', '/namespaces/sales/register', body, options)
    await expectDenied(
      register(),
      `no write policy of sales.${alias.name} allows register-table, which could bypass filters and masks of another name`,
    )
    expect(await exists(alias)).toBe(false)
    expect((await audit(service))[0]).toMatchObject({
      action: 'register-table',
      decision: 'REJECTED',
      table: alias,
    })
    await govern(service, alias, `acl-${alias.name}`, 'write_acl', stewardsOnly)
    await expectDenied(register(), `acl-${alias.name}`)
    expect((await register(steward)).status).toBe(200)
  })
})

describe('a view', () => {
  const version = { 'version-id': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {}, representations: [] }
  const body = (name: string) => ({
    name,
    schema: schemaOf(orderFields),
    'view-version': version,
    properties: {},
  })
  const path = '/namespaces/sales/views'

  test('that shadows a governed table name is refused unless a write policy of the name allows it', async () => {
    const table = fresh()
    await govern(service, table, `id-${table.name}`, 'schema', keepId)
    await expectDenied(
      send(service, 'POST', path, body(table.name)),
      `no write policy of sales.${table.name} allows create-view`,
    )
    const free = fresh()
    expect((await send(service, 'POST', path, body(free.name))).status).toBe(200)
    await expectDenied(
      send(service, 'POST', '/views/rename', { source: free, destination: table }),
      `no write policy of sales.${table.name} allows rename-view`,
    )
    await govern(service, table, `acl-${table.name}`, 'write_acl', stewardsOnly)
    await expectDenied(send(service, 'POST', path, body(table.name)), `acl-${table.name}`)
    expect((await send(service, 'POST', path, body(table.name), steward)).status).toBe(200)
    for (const [method, at] of [
      ['POST', `${path}/${table.name}`],
      ['DELETE', `${path}/${table.name}`],
    ] as const)
      await expectDenied(
        send(service, method, at, method === 'POST' ? { requirements: [], updates: [] } : undefined),
        `acl-${table.name}`,
      )
  })

  test('that no policy governs is created, listed, loaded, replaced, renamed and dropped, each audited', async () => {
    const view = fresh()
    const to = fresh()
    expect((await send(service, 'POST', path, body(view.name))).status).toBe(200)
    expect(await (await send(service, 'GET', path)).text()).toContain(view.name)
    const at = `${path}/${view.name}`
    expect((await send(service, 'HEAD', at)).status).toBe(204)
    expect(await (await send(service, 'GET', at)).json()).toContainKeys(['metadata-location', 'metadata'])
    const replaced = { updates: [{ action: 'set-properties', updates: { a: '1' } }] }
    expect(await (await send(service, 'POST', at, replaced)).text()).toContain('"a":"1"')
    const foreign = { ...replaced, identifier: { namespace: ['sales'], name: 'another' } }
    expect((await send(service, 'POST', at, foreign)).status).toBe(400)
    expect((await send(service, 'POST', '/views/rename', { source: view, destination: to })).status).toBe(204)
    expect((await send(service, 'DELETE', `${path}/${to.name}`)).status).toBe(204)
    expect((await send(service, 'GET', `${path}/${to.name}`)).status).toBe(404)
    expect((await audit(service)).slice(0, 4).map(({ action, decision }) => [action, decision])).toEqual([
      ['drop-view', 'APPROVED'],
      ['rename-view', 'APPROVED'],
      ['replace-view', 'APPROVED'],
      ['create-view', 'APPROVED'],
    ])
  })
})

describe('a namespace', () => {
  const named = (namespace: string) => send(service, 'POST', '/namespaces', { namespace: [namespace] })
  const changesSent = () => service.catalog.faults.counts.other

  test('that is there already is 409, though a policy of a table in it denies everything, or cannot be evaluated', async () => {
    for (const [namespace, definitionCel] of [
      ['there', 'false'],
      ['there_broken', 'table.no_such_key == 1'],
    ] as const) {
      expect((await named(namespace)).status).toBe(200)
      await govern(
        service,
        { namespace: [namespace], name: 't' },
        `${namespace}-acl`,
        'write_acl',
        definitionCel,
      )
      const rows = (await audit(service)).length
      const answer = await named(namespace)
      expect(answer.status).toBe(409)
      expect(await answer.json()).toMatchObject({ error: { type: 'AlreadyExistsException' } })
      expect((await audit(service)).length).toBe(rows)
    }
  })

  test('that is not there is created only as the policies of the names in it allow', async () => {
    await govern(service, { namespace: ['absent'], name: 't' }, 'absent-acl', 'write_acl', 'false')
    await expectDenied(named('absent'), 'absent-acl')
    expect((await send(service, 'HEAD', '/namespaces/absent')).status).toBe(404)
    await govern(
      service,
      { namespace: ['absent_broken'], name: 't' },
      'absent-broken',
      'write_acl',
      'table.no_such_key == 1',
    )
    expect((await named('absent_broken')).status).toBe(503)
    expect((await send(service, 'HEAD', '/namespaces/absent_broken')).status).toBe(404)
  })

  test('is not created where the upstream does not say whether it is there', async () => {
    service.catalog.faults.add({ operation: 'read', effect: 'fail', status: 500 })
    const before = changesSent()
    expect((await named('unsaid')).status).toBe(502)
    expect(changesSent()).toBe(before)
    expect((await send(service, 'HEAD', '/namespaces/unsaid')).status).toBe(404)
  })

  test('with governed names below is changed only as their write policies allow', async () => {
    const tree = (name: string) => ({ namespace: ['tree', 'deep'], name })
    await govern(
      service,
      tree('a'),
      'tree-acl',
      'write_acl',
      'commit.updates[0].action != "update-properties"',
    )
    for (const namespace of [['tree'], ['tree', 'deep']])
      expect((await send(service, 'POST', '/namespaces', { namespace, properties: {} })).status).toBe(200)
    const update = { updates: { location: 'file:///elsewhere' }, removals: [] }
    for (const path of ['tree', 'tree%1Fdeep'])
      await expectDenied(send(service, 'POST', `/namespaces/${path}/properties`, update), 'tree-acl')
    expect((await send(service, 'DELETE', '/namespaces/tree%1Fdeep')).status).toBe(204)
    expect((await audit(service))[0]).toMatchObject({
      action: 'drop-namespace',
      table: { namespace: ['tree', 'deep'], name: '' },
    })
  })

  test('with governed names below is dropped only where a write policy of theirs allows it', async () => {
    await send(service, 'POST', '/namespaces', { namespace: ['bare'], properties: {} })
    await govern(service, { namespace: ['bare'], name: 't' }, 'bare-id', 'schema', keepId)
    expect((await send(service, 'DELETE', '/namespaces/bare')).status).toBe(403)
    const update = { updates: { owner: 'x' }, removals: [] }
    expect((await send(service, 'POST', '/namespaces/bare/properties', update)).status).toBe(200)
  })
})

test('policies of a foreign tenant neither deny nor show', async () => {
  const other = await addTenant(service.store, 'stranger', service.catalog.url)
  const table = fresh()
  await govern(service, table, `mine-${table.name}`, 'write_acl', 'false')
  expect((await create(table, { tenant: other })).status).toBe(200)
  expect((await audit(service)).some((row) => row.table.name === table.name)).toBe(false)
  const update = { updates: { owner: 'stranger' }, removals: [] }
  const properties = '/namespaces/sales/properties'
  expect((await send(service, 'POST', properties, update, { tenant: other })).status).toBe(200)
  expect((await send(service, 'POST', properties, update)).status).toBe(403)
  await expectDenied(
    send(service, 'POST', `/namespaces/sales/tables/${table.name}`, setProperties({ a: '1' })),
    `mine-${table.name}`,
  )
})
