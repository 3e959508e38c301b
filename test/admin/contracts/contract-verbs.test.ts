/** `covenant plan | diff | apply | export` against a running service, as continuous integration uses them. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { session } from '../../support/identity.ts'
import { start } from '../../support/start-program.ts'
import { type ContractWorld, contractText, startContractWorld } from './world.ts'

setDefaultTimeout(180_000)

let world: ContractWorld
let folder: string
const file = (name: string) => join(folder, name)
const plan = (...words: string[]) => world.run('plan', [folder, ...words])
const versionsOf = async (id: string) => {
  const [, { items }] = await world.ask('GET', '/documents', world.stella)
  const found = (items as { id: string; versions: { version: string; state: string }[] }[]).find(
    (one) => one.id === id,
  )
  return found?.versions.map(({ version, state }) => `${version} ${state}`)
}

beforeAll(async () => {
  world = await startContractWorld(['orders', 'people', 'places', 'thin', 'legacy'])
  folder = world.folder('contracts', {
    'shop/orders.odcs.yaml': contractText('orders'),
    'people.odcs.yml': contractText('people'),
    'notes.yaml': 'no contract',
  })
  // A foreign tenant has a contract of the same name all the while.
  expect(
    (await world.ask('PUT', '/documents/orders', world.mallory, contractText('orders', '9.0.0')))[0],
  ).toBe(200)
})
afterAll(() => world[Symbol.asyncDispose]())

test('a plan of new contracts says what opens, who must sign, and ends with 2', async () => {
  const { status, out, err } = await plan()
  expect({ status, err }).toEqual({ status: 2, err: '' })
  expect(out).toBe(`+ orders 1.0.0  (${file('shop/orders.odcs.yaml')})
    access is loosened: orders: The table sales.orders becomes readable
    commits that break it on sales.orders are recorded for 7 days, and refused from then on
    needs sign-off by a steward who did not write it
+ people 1.0.0  (${file('people.odcs.yml')})
    access is loosened: people: The table sales.people becomes readable
    commits that break it on sales.people are recorded for 7 days, and refused from then on
    needs sign-off by a steward who did not write it
2 to add, 0 to change, 0 to deprecate, 0 unchanged.
`)
})

test('applying proposes; applying and planning again do nothing', async () => {
  const first = await world.run('apply', [folder])
  expect(first).toMatchObject({ status: 0, err: '' })
  expect(first.out).toContain('orders 1.0.0 is proposed, needs sign-off by a steward who did not write it')
  const again = await world.run('apply', [folder])
  expect(again).toMatchObject({ status: 0, err: '' })
  expect(await versionsOf('orders')).toEqual(['1.0.0 proposed'])
  const after = await plan()
  expect(after.status).toBe(0)
  expect(after.out).toContain('1.0.0 is proposed already, by ci')
  expect(after.out).toContain('0 to add, 0 to change, 0 to deprecate, 2 unchanged, of these 2 on their way.')
})

test('waiting ends once all versions are in force, and says how far they are', async () => {
  const told: string[] = []
  let signed: Promise<unknown> | undefined
  const { status } = await world.run('apply', [folder, '--wait', '--deploy'], {
    onText(text) {
      told.push(text)
      signed ??= signAll()
    },
  })
  await signed
  expect(status).toBe(0)
  expect(told.filter((text) => text.startsWith('orders 1.0.0'))).toEqual([
    'orders 1.0.0 is proposed, needs sign-off by a steward who did not write it',
    'orders 1.0.0 is approved',
    'orders 1.0.0 is active',
  ])
  expect(await plan()).toEqual({
    status: 0,
    out: '0 to add, 0 to change, 0 to deprecate, 2 unchanged.\n',
    err: '',
  })

  async function signAll() {
    for (const id of ['orders', 'people']) {
      const at = `/documents/${id}/versions/1`
      const [, shown] = await world.ask('GET', at, world.stella)
      await world.ask('POST', `${at}/sign-offs`, world.stella, { sha256: shown.sha256 })
    }
  }
})

test('a change that breaks consumers ends with 3 and names them', async () => {
  const text = contractText('orders', '2.0.0', { email: 'none' })
  writeFileSync(file('shop/orders.odcs.yaml'), text)
  const { status, out } = await plan('--json')
  expect(status).toBe(3)
  expect(JSON.parse(out)).toMatchObject({
    managed_by: 'git',
    contracts: [
      {
        ...{ id: 'orders', action: 'change', version: '2.0.0' },
        comparison: {
          breaking: true,
          breaks: [{ name: 'Sales reports', contact: 'reports@acme.example' }],
          waits_for: ['first'],
        },
      },
      { id: 'people', action: 'none' },
    ],
  })
  const planned = (await plan()).out.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  expect(planned).toContain(`~ orders 1.0.0 → 2.0.0  (${file('shop/orders.odcs.yaml')})
    breaks consumers: orders.email: The column email is dropped
    breaks: Sales reports (reports@acme.example)
    commits that break it on sales.orders are recorded, and refused from TIME on
    needs sign-off by a steward who did not write it
`)
  const diff = await world.run('diff', [folder])
  expect(diff.status).toBe(3)
  expect(diff.out).toContain(`${file('shop/orders.odcs.yaml')}: orders (in force: 1.0.0)
  ~ /version: "1.0.0" → "2.0.0"  (line 5)
  - /schema/orders/properties/email: {`)
})

test('a version number that is too small is an error, of the plan and of applying', async () => {
  writeFileSync(file('shop/orders.odcs.yaml'), contractText('orders', '1.0.1', { email: 'none' }))
  const planned = await plan()
  expect(planned.status).toBe(1)
  expect(planned.out).toContain('cannot be applied: From 1.0.0 the version must take a major step, not patch')
  const applied = await world.run('apply', [folder])
  expect(applied).toMatchObject({ status: 1, out: '' })
  expect(applied.err).toContain('Nothing was applied.')
  expect(await versionsOf('orders')).toEqual(['1.0.0 active'])
})

test('text that differs in no value is no change', async () => {
  writeFileSync(file('shop/orders.odcs.yaml'), `# another comment\n${contractText('orders')}`)
  const { status, out } = await plan()
  expect(status).toBe(0)
  expect(out).toContain('Its text differs, and every value is the same')
})

test('a plan that was written is applied, and refused once the service has moved', async () => {
  writeFileSync(
    file('shop/orders.odcs.yaml'),
    contractText('orders', '1.0.1').replace('name: id,', 'name: id, description: key,'),
  )
  const at = join(world.root, 'plan.json')
  expect((await plan('--out', at)).status).toBe(2)
  const written = readFileSync(at, 'utf8')
  expect(JSON.parse(written)).toMatchObject({
    propose: [{ id: 'orders', file: file('shop/orders.odcs.yaml'), sha256: expect.any(String) }],
    deprecate: [],
  })
  expect(written).not.toContain('DataContract')

  const text = readFileSync(file('shop/orders.odcs.yaml'), 'utf8')
  writeFileSync(file('shop/orders.odcs.yaml'), `${text}# later\n`)
  expect(await world.run('apply', [at])).toEqual({
    ...{ status: 1, out: '' },
    err: `${file('shop/orders.odcs.yaml')} has changed since the plan was made. Plan again.\n`,
  })
  writeFileSync(file('shop/orders.odcs.yaml'), text)
  expect((await world.run('apply', [at])).status).toBe(0)
  expect(await versionsOf('orders')).toEqual(['1.0.1 approved', '1.0.0 active'])
  const moved = await world.run('apply', [at])
  expect(moved).toMatchObject({ status: 1, out: '' })
  expect(moved.err).toBe(
    `${file('shop/orders.odcs.yaml')}: The contract orders has moved since the plan was made: its newest version is 1.0.1 (approved), by ci. Plan again.\n`,
  )
  const elsewhere = await world.run('apply', [at], { env: { COVENANT_URL: 'https://other.example' } })
  expect(elsewhere).toMatchObject({ status: 64, err: expect.stringContaining('made for another service') })
  await world.bringInForce()
})

test('a mask that was changed on its table is shown as drift', async () => {
  // Such a change is open to a contract that came the short way.
  expect((await world.ask('PUT', '/documents/legacy', world.stella, contractText('legacy')))[0]).toBe(200)
  const own = world.folder('legacy', { 'legacy.odcs.yaml': contractText('legacy') })
  expect((await world.run('plan', [own])).status).toBe(0)
  const mask = '/tables/sales/legacy/columns/email/masks/m'
  expect((await world.ask('DELETE', mask, world.stella))[0]).toBe(204)
  const lost = await world.run('plan', [own])
  expect(lost.status).toBe(2)
  expect(lost.out).toContain('    drift: The mask m on sales.legacy.email is not in force\n')
  const diff = await world.run('diff', [own])
  expect(diff).toMatchObject({ status: 2, out: expect.stringContaining('drift: The mask m on sales.legacy') })
  expect((await world.ask('PUT', mask, world.stella, { action: 'replace-with-null' }))[0]).toBe(204)
  expect((await world.run('plan', [own])).status).toBe(0)
  expect((await world.ask('DELETE', '/documents/legacy', world.stella))[0]).toBe(204)
})

test('a version that came in force by other hands is shown as drift', async () => {
  const at = '/documents/people/versions'
  const [, added] = await world.ask(
    'POST',
    at,
    world.stella,
    contractText('people', '1.0.1').replace('name: id,', 'name: id, description: key,'),
  )
  await world.ask('POST', `${at}/${added.number}/moves`, world.stella, { move: 'propose' })
  expect((await plan()).out).toContain('Version 1.0.1 of stella is approved on the service')
  await world.bringInForce()
  const drifted = await plan()
  expect(drifted.status).toBe(1)
  expect(drifted.out).toMatch(
    /drift: Version 1\.0\.1 is in force, by stella on \d{4}-\d\d-\d\d, and did not come from the folder/,
  )
  expect(drifted.out).toContain('cannot be applied: The version 1.0.0 is not greater than 1.0.1')
  expect((await world.run('diff', [folder])).status).toBe(2)
  const taken = await world.run('export', [folder])
  expect(taken).toMatchObject({ status: 1, err: expect.stringContaining('--overwrite writes them') })
  expect((await world.run('export', [folder, '--overwrite'])).out).toContain(
    `written ${file('people.odcs.yml')}  (people)`,
  )
  expect((await plan()).status).toBe(0)
})

test('a contract that is gone from the folder stays in force, and is deprecated on request', async () => {
  rmSync(file('people.odcs.yml'))
  const kept = await plan()
  expect(kept.status).toBe(0)
  expect(kept.out).toContain('It is gone from the folder and stays in force; --prune deprecates it')
  const pruned = await plan('--prune')
  expect(pruned.status).toBe(2)
  expect(pruned.out).toContain('- people 1.0.1')
  // It came in force by other hands, and the folder kept it before.
  const other = await plan('--prune', '--managed-by', 'another/repository')
  expect(other).toMatchObject({ status: 0, out: expect.stringContaining('Not kept in the folder: people.') })
  const applied = await world.run('apply', [folder, '--prune'])
  expect(applied).toMatchObject({ status: 0, out: expect.stringContaining('people is deprecated') })
  expect((await versionsOf('people'))?.[0]).toBe('1.0.1 deprecated')
  expect((await plan('--prune')).status).toBe(0)
})

test('a rejected document is not proposed again', async () => {
  writeFileSync(file('places.odcs.yaml'), contractText('places'))
  expect((await world.run('apply', [folder])).status).toBe(0)
  await world.ask('POST', '/documents/places/versions/1/moves', world.stella, {
    move: 'reject',
    reason: 'no',
  })
  const again = await world.run('apply', [folder])
  expect(again).toMatchObject({
    status: 1,
    err: expect.stringContaining('Version 1.0.0 with this text was rejected'),
  })
  const waited = await world.run('plan', [folder])
  expect(waited.status).toBe(1)
  rmSync(file('places.odcs.yaml'))
})

test('waiting ends with 1 when the time is over, and with 130 when the user interrupts; the proposal stays', async () => {
  const own = world.folder('waiting', { 'places.odcs.yaml': contractText('places', '1.1.0') })
  const late = await world.run('apply', [own, '--wait', '--timeout', '1'])
  expect(late).toMatchObject({
    status: 1,
    err: 'Not in force yet: places 1.1.0 is proposed, needs sign-off by a steward who did not write it\n',
  })
  const interruption = new AbortController()
  const stopped = await world.run('apply', [own, '--wait'], {
    interrupted: () => interruption.signal,
    onText: (text) => text.startsWith('places') && interruption.abort(),
  })
  expect(stopped).toMatchObject({ status: 130, err: expect.stringContaining('Interrupted.') })
  const env = { COVENANT_URL: world.service.app.url.origin, COVENANT_SESSION: world.ci }
  const child = start(env, ['apply', own, '--wait'])
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream()))
    if (chunk.includes('places 1.1.0 is proposed')) child.kill('SIGINT')
  expect([await child.exited, await child.stderr.text()]).toEqual([
    130,
    'Interrupted. What was applied or proposed stays, and applying again goes on.\n',
  ])
  expect((await versionsOf('places'))?.[0]).toBe('1.1.0 proposed')
})

test('of two who apply at once one is told that the service has moved, and nothing of his is there', async () => {
  const [left, right] = ['left', 'right'].map((name) =>
    world.folder(name, {
      'thin.odcs.yaml': contractText('thin', '1.0.0', { more: `  - {name: region, description: ${name}}\n` }),
      [`${name}.odcs.yaml`]: contractText(name, '1.0.0', { table: name }),
    }),
  )
  const [a, b] = [join(world.root, 'a.json'), join(world.root, 'b.json')]
  await world.run('plan', [left ?? '', '--out', a])
  await world.run('plan', [right ?? '', '--out', b])
  const outcomes = await Promise.all([world.run('apply', [a]), world.run('apply', [b])])
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual([0, 1])
  const lost = outcomes.findIndex(({ status }) => status === 1)
  expect(outcomes[lost]?.err).toMatch(
    /The contract thin has moved since the plan was made: its newest version is 1\.0\.0 \(proposed\), by ci\. Plan again\.\n$/,
  )
  expect(await versionsOf(['left', 'right'][lost] ?? '')).toBeUndefined()
  expect(await versionsOf('thin')).toHaveLength(1)
})

test('a document that the service refuses is named by its file, and nothing is proposed', async () => {
  const own = world.folder('refused', {
    'fine.odcs.yaml': contractText('fine', '1.0.0', { table: 'fine' }),
    'thief.odcs.yaml': contractText('thief', '1.0.0', { table: 'orders' }),
  })
  const { status, err } = await world.run('apply', [own])
  expect({ status, err }).toEqual({
    status: 1,
    err: `${join(own, 'thief.odcs.yaml')}: thief: The table sales.orders is under the contract orders. End that first.\n`,
  })
  expect(await versionsOf('fine')).toBeUndefined()
})

test('a folder with a broken document is told with line and column, and nothing is asked of the service', async () => {
  const own = world.folder('broken', { 'x.odcs.yaml': `${contractText('x')}id: y\n` })
  for (const verb of ['plan', 'diff', 'apply'] as const) {
    const { status, err } = await world.run(verb, [own], {
      env: { COVENANT_URL: `http://127.0.0.1:${freePort()}` },
    })
    expect(status).toBe(1)
    expect(err).toMatch(/x\.odcs\.yaml:\d+:1: error: The key \w+ is there twice\.\n$/)
  }
})

test('a session of another tenant sees its own contracts only', async () => {
  const { status, out } = await world.run('plan', [folder], { as: world.mallory })
  expect(status).toBe(1)
  expect(out).toContain('cannot be applied: The version 1.0.1 is not greater than 9.0.0')
  expect(out).not.toContain('places')
})

test('a service that is not there is 69, a session that may not is 1, a wrong word is 64', async () => {
  const nobody = { env: { COVENANT_URL: `http://127.0.0.1:${freePort()}` } }
  const reader = await session(world.service, world.tenant, ['read'])
  const outcomes = [
    await world.run('plan', [folder], nobody),
    await world.run('plan', [folder], { as: reader }),
    await world.run('plan', [folder, '--prone']),
    await world.run('plan', ['a', 'b']),
    await world.run('plan', [join(world.root, 'nowhere')]),
    await world.run('apply', [folder, '--timeout', 'soon']),
    await world.run('plan', [folder], { env: { COVENANT_URL: '' } }),
    await world.run('apply', [join(world.root, 'none.json')]),
  ]
  expect(outcomes.map(({ status }) => status)).toEqual([69, 1, 64, 64, 64, 64, 64, 64])
  expect(outcomes.map(({ out }) => out)).toEqual(outcomes.map(() => ''))
})
