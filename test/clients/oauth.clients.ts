/** Real clients get and renew access tokens of the gateway. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { limits } from '../../src/limits.ts'
import { documentedSettings } from './client-docs.ts'
import { type Gate, openGate } from './gate.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { packageFolder } from './packages.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import { runSession } from './sessions.ts'
import { runSpark } from './spark-session.ts'

const HOUR = 3_600_000
let fixture: FixtureServer
let gateway: Gateway
/** Before the gateway. */
let gate: Gate
/** Milliseconds by which the service's clock is ahead of the machine's, and so of its clients'. */
let aheadMs = 0
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  fixture = stack.use(await startRestFixture())
})
beforeEach(async () => {
  aheadMs = 0
  const clock = { now: () => Date.now() + aheadMs }
  gateway = await startGateway({ kind: 'alpha', url: fixture.url, config: { warehouse: 'w' } }, { clock })
  gate = openGate(gateway.app.url.href)
})
afterEach(async () => {
  await gate[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
afterAll(() => stack.disposeAsync())

const through = () => ({
  catalogUri: () => `${gate.url}/v1/iceberg/main`,
  secret: gateway.secret,
  sessionId: gateway.sessionId,
})
const tokenRequests = () => gate.passed.filter(({ path }) => path.endsWith('/v1/oauth/tokens'))
/** Different tokens that came with other requests and were taken. */
const tokensUsed = () =>
  new Set(
    gate.passed
      .filter(({ path, status }) => !path.endsWith('/v1/oauth/tokens') && status !== 401)
      .flatMap(({ headers }) => headers.get('authorization') ?? []),
  )

const pyiceberg = (name: string, settings: string, ...steps: readonly string[]) =>
  runSession({
    python: join(packageFolder('python:pyiceberg'), 'bin/python'),
    script: 'pyiceberg_session.py',
    log: `oauth-pyiceberg-${name}`,
    args: [`py.${name}`, ...steps],
    env: { SETTINGS: settings },
    seconds: 60,
  })

test('oauth: pyiceberg takes a token for its credential, and a new one where that has ended', async () => {
  await gateway.govern(
    { namespace: ['py'], name: 'tokens' },
    { id: 'clients-only', kind: 'write_acl', definitionCel: 'principal.sub == "clients"' },
  )
  gate.afterwards = async (request, path) => {
    // Between the creation and the append.
    if (request.method === 'POST' && path.endsWith('/tables')) aheadMs = limits.accessTokenMs + HOUR
  }
  const settings = documentedSettings('PyIceberg with tokens', through())
  const steps = await pyiceberg('tokens', settings, 'create', 'append', 'read')
  expect(steps.map(({ message }) => message)).toEqual([undefined, undefined, undefined])
  expect(steps.at(-1)?.value).toHaveLength(2)
  expect(new Set(tokenRequests().map(({ status }) => status))).toEqual(new Set([200]))
  // The token that had ended was refused, and another one taken.
  expect(gate.passed.filter(({ status }) => status === 401)).not.toEqual([])
  expect(tokensUsed().size).toBeGreaterThan(1)
  const audited = await gateway.audit({ namespace: ['py'], name: 'tokens' })
  expect(new Set(audited.map(({ committer }) => committer))).toEqual(new Set(['clients']))
  expect(new Set(audited.map(({ principalSource }) => principalSource))).toEqual(new Set(['auth_header']))
})

test('oauth: pyiceberg is refused a token for a credential that is not known', async () => {
  const settings = documentedSettings('PyIceberg with tokens', { ...through(), secret: 'svc_unknown' })
  const refused = await pyiceberg('unknown', settings, 'create').catch(String)
  expect(refused).toContain('invalid_client')
  expect(tokenRequests().map(({ status }) => status)).toEqual([401])
})

test('oauth: spark takes a token for its credential, and renews it before it ends', async () => {
  // Tokens of a service whose clock is behind end for the client in eight seconds.
  aheadMs = 8_000 - limits.accessTokenMs
  const inserts = Array.from({ length: 6 }, (_, i) => `INSERT INTO covenant.sp.tokens VALUES (${i + 2})`)
  const statements = [
    'CREATE NAMESPACE IF NOT EXISTS covenant.sp',
    'CREATE TABLE covenant.sp.tokens USING iceberg AS SELECT 1L AS id',
    ...inserts.slice(0, 3),
    // Spark's clock is its own: the first token must have had time to end.
    "SELECT reflect('java.lang.Thread', 'sleep', 9000L)",
    ...inserts.slice(3),
    'SELECT count(*) FROM covenant.sp.tokens',
  ]
  const settings = documentedSettings('Spark with tokens', through())
  const steps = await runSpark({ settings, log: 'oauth-spark', seconds: 200 }, statements)
  expect(steps.flatMap(({ message }) => message ?? [])).toEqual([])
  expect(steps.at(-1)?.value).toEqual([[7]])
  expect(tokenRequests().length).toBeGreaterThan(1)
  expect(new Set(tokenRequests().map(({ status }) => status))).toEqual(new Set([200]))
  expect(tokensUsed().size).toBeGreaterThan(1)
  expect(gate.passed.filter(({ status }) => status === 401)).toEqual([])
})
