/** `covenant contract sign`: what it shows, that it asks, and that it signs what it showed and nothing else. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { runCovenant } from '../../../src/admin/verbs.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
let ann: string
let stella: string
let mallory: string
beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  await commitColumns(
    service.store,
    tenant,
    { namespace: ['sales'], name: 'orders' },
    { id: 'long', email: 'string' },
  )
  ann = await session(service, tenant, ['admin', 'read'], [], 'ann')
  stella = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  mallory = await session(service, foreign.tenant, sessionScopes, ['steward', 'administrator'], 'mallory')
})
afterAll(() => service[Symbol.asyncDispose]())

const document = (version: string, { mask = true, more = '' } = {}) => `apiVersion: v3.2.0
kind: DataContract
id: orders
version: ${version}
schema:
- name: orders
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - {name: id, logicalType: integer${more}}
  - name: email
    customProperties:
    - {property: covenant, vendor: covenant, value: {masks: ${mask ? '[{id: m, action: replace-with-null}]' : '[]'}}}
`

async function run(
  words: readonly string[],
  { as = stella, stdin = '', types = undefined as string | undefined, before = async () => {} } = {},
) {
  const [out, err, questions]: [string[], string[], string[]] = [[], [], []]
  const status = await runCovenant(words, {
    env: { COVENANT_URL: service.app.url.origin, COVENANT_SESSION: as },
    stdin: async () => stdin,
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
    ...(types !== undefined && {
      async ask(question: string) {
        questions.push(question)
        await before()
        return types
      },
    }),
  })
  return { status, out: out.join('\n'), err: err.join('\n'), questions }
}

async function propose(body: string): Promise<string> {
  const added = await run(['contract', 'propose', 'orders', '-', '--json'], { as: ann, stdin: body })
  const { number } = JSON.parse(added.out) as { number: number }
  const moved = await run(['contract', 'move', 'orders', `${number}`, 'propose'], { as: ann })
  expect([moved.status, moved.err]).toEqual([0, ''])
  return `orders@${number}`
}
const stateOf = async (version: string) =>
  JSON.parse((await run(['contract', 'version', ...version.split('@'), '--json'])).out) as {
    state: string
    sign_offs: { by: string; sha256: string; comment?: string }[]
  }

test('it shows what the version does and who must sign, asks, and signs for y alone', async () => {
  const first = await propose(document('1.0.0'))
  for (const types of ['', 'n', 'yes please']) {
    const asked = await run(['contract', 'sign', first], { types })
    expect([asked.status, asked.questions]).toEqual([0, ['Sign it? [y/N] ']])
    expect(asked.out).toEndWith('\nNot signed.')
  }
  expect((await stateOf(first)).state).toBe('proposed')
  const { status, out, err } = await run(['contract', 'sign', first, '--comment', 'read it'], { types: 'y' })
  expect([status, err]).toEqual([0, ''])
  expect(out).toStartWith('orders version 1 (1.0.0) by ann\nLoosens access: somebody sees more.\n')
  expect(out).toContain('No version is in force.')
  expect(out).toMatch(
    /It needs sign-off by a steward who did not write it\. Document: [0-9a-f]{64}\nSigned\. Version 1\.0\.0 is approved\.$/,
  )
  expect((await stateOf(first)).sign_offs).toMatchObject([{ by: 'stella', comment: 'read it' }])
})

test('a change is told value by value, with what loosens apart from what tightens', async () => {
  await run(['settings', 'life-cycle', 'put', '--deploy-unverified', 'true'])
  expect((await run(['contract', 'move', 'orders', '1', 'deploy'])).err).toBe('')
  const next = await propose(document('2.0.0', { mask: false, more: ', required: true' }))
  const { out } = await run(['contract', 'sign', next], { types: 'n' })
  expect(out).toMatch(/Loosens access: somebody sees more\.\n {2}.*email.*mask/)
  expect(out).toContain('In the document:\n  ~ /version: "1.0.0" → "2.0.0"')
  expect(out).toMatch(/^ {2}\+ \/schema\/orders\/properties\/id\/required: true$/m)
})

test('a version that moved while the question stood open is not signed', async () => {
  const { status, err } = await run(['contract', 'sign', 'orders@2'], {
    types: 'y',
    before: async () => {
      expect((await run(['contract', 'move', 'orders', '2', 'withdraw'], { as: ann })).err).toBe('')
    },
  })
  expect(status).toBe(1)
  expect(err).toContain('withdrawn')
  expect((await stateOf('orders@2')).sign_offs).toEqual([])
})

test('the hash that is signed is that of the document that was shown, else nothing is', async () => {
  const next = await propose(document('2.1.0', { mask: false }))
  // A proxy that shows another document than the one that would be signed.
  const posts: string[] = []
  using liar = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (request.method === 'POST') posts.push(pathname)
      const secret = request.headers.get('x-svc-session') ?? ''
      const response = await call(service, request.method, pathname, { secret })
      if (!pathname.endsWith('/document')) return response
      return new Response((await response.text()).replace('2.1.0', '1.0.1'), { headers: response.headers })
    },
  })
  const { status, err } = await run(['contract', 'sign', next, '--yes', '--url', liar.url.origin])
  expect([status, posts]).toEqual([1, []])
  expect(err).toStartWith('The document of this version is not the one of its hash; nothing was signed.')
})

test('without a terminal it takes --yes, and with --json it prints the versions as signed', async () => {
  const refused = await run(['contract', 'sign', 'orders@3'])
  expect([refused.status, refused.out]).toEqual([64, ''])
  expect(refused.err).toStartWith('There is no terminal to ask on')
  const { status, out } = await run(['contract', 'sign', 'orders@3', '--yes', '--json'])
  expect(status).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ versions: [{ number: 3, state: 'approved' }] })
  const again = await run(['contract', 'sign', 'orders@3', '--yes'])
  expect([again.status, again.err]).toEqual([1, 'Version 3 is approved; only a proposed version is signed.'])
})

test('neither its author nor somebody of another tenant signs it, and no word is repeated', async () => {
  const next = await propose(document('2.2.0', { mask: false, more: ', required: true' }))
  const own = await run(['contract', 'sign', next, '--yes'], { as: ann })
  expect([own.status, own.out]).toEqual([1, ''])
  const foreign = await run(['contract', 'sign', next, '--yes'], { as: mallory })
  expect([foreign.status, foreign.out]).toEqual([1, ''])
  expect((await stateOf(next)).sign_offs).toEqual([])
  const wrong = await run(['contract', 'sign', 'svc_secret', '--yes'])
  expect(wrong).toMatchObject({ status: 64, out: '' })
  expect(wrong.err).not.toContain('svc_secret')
})
