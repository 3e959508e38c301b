/** Every operation that a service has is a verb by name, or is listed here with the reason why `covenant call` is enough. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { usageOf } from '../../../src/admin/named/named-help.ts'
import type { NamedVerb } from '../../../src/admin/named/named-verb.ts'
import { namedVerbs } from '../../../src/admin/named/named-verbs.ts'
import { placesOf } from '../../../src/admin/named/read-words.ts'
import { membersOf, type ServedOperation, servedOperations } from '../../../src/admin/served-operations.ts'
import { runCovenant } from '../../../src/admin/verbs.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import { session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(120_000)

/** Operations without a verb by name; `covenant call` runs them, where that makes sense at all. */
const withoutVerb: Readonly<Record<string, readonly string[]>> = {
  'the protocol of OAuth between a client and the service': [
    ...['authorize', 'consent', 'issue_token', 'get_authorization_server', 'get_protected_resource'],
    'get_protected_resource_at_root',
  ],
  'the login of a browser': [
    ...[
      'begin_login',
      'complete_login',
      'log_out',
      'log_out_at_provider',
      'receive_logout',
      'show_logged_out',
    ],
  ],
  'a message that another system sends, with a signature of its own': [
    ...['receive_alpha_webhook', 'receive_billing_event', 'receive_identity_event', 'receive_lineage_event'],
  ],
  'a stream that ends when the reader does': ['follow_events'],
  'a question of load balancers, which read the status alone': ['get_liveness'],
  'keys and plans for the library that writes protected values; `covenant transform sql` shows a plan': [
    ...['get_key_set', 'get_transform_plan', 'issue_subject_keys'],
  ],
  'an administration command has it under a list': ['change_catalog', 'get_tenant'],
}

/** Operations of administration commands whose names are put together. */
const byParts = ['get', 'cancel', 'resume']
  .flatMap((verb) => [`${verb}_check_run`, `${verb}_tenant_check_run`])
  .concat(['derive', 'revoke'].flatMap((verb) => [`${verb}_territory`, `${verb}_tenant_territory`]))

let service: TestService
let operations: readonly ServedOperation[]
let steward: string
beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  steward = await session(service, service.owner.tenant, sessionScopes, ['steward', 'administrator', 'owner'])
  operations = await servedOperations({ url: service.app.url.origin, session: steward }, undefined)
})
afterAll(() => service[Symbol.asyncDispose]())

async function run(...words: string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(words, {
    env: { COVENANT_URL: service.app.url.origin, COVENANT_SESSION: steward },
    stdin: async () => '',
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

const operationOf = (verb: NamedVerb) => operations.find(({ name }) => name === verb.operation)

test('every operation has a verb by name, or a reason to have none', async () => {
  const folder = join(import.meta.dir, '../../../src/admin')
  const files = [...new Bun.Glob('**/*.ts').scanSync(folder)].filter((file) => !file.startsWith('named/'))
  const texts = await Promise.all(files.map((file) => Bun.file(join(folder, file)).text()))
  const inCommands = new Set(
    texts.flatMap((text) => [...text.matchAll(/'([a-z]+(?:_[a-z]+)+)'/g)].map(([, name]) => name)),
  )
  const named = new Set(namedVerbs.map(({ operation }) => operation))
  const excused = new Set(Object.values(withoutVerb).flat())
  const has = (name: string) =>
    inCommands.has(name) || named.has(name) || byParts.includes(name) || excused.has(name)
  // What an operator does with any tenant has a like for the own one.
  const likeOf = ({ path, method }: ServedOperation) =>
    operations.find(
      (one) => one.method === method && one.path === path.replace('/admin/tenants/{tenant}', '/api/v1'),
    )?.name ?? ''
  const missing = operations.filter((one) => !has(one.name) && !has(likeOf(one)))
  expect(missing.map(({ name }) => name)).toEqual([])
  expect([...excused].filter((name) => named.has(name))).toEqual([])
  expect([...excused].filter((name) => !operations.some((one) => one.name === name))).toEqual([])
})

test('each verb takes members that its operation has, and all that it requires', () => {
  const problems = namedVerbs.flatMap((verb) => {
    const operation = operationOf(verb)
    if (verb.runs !== undefined) return []
    if (operation === undefined) return [`${verb.words}: no operation ${verb.operation}`]
    const members = membersOf(operation).map(({ name }) => name.toLowerCase().replaceAll('-', '_'))
    const places = placesOf(verb.usage).map(({ name }) => name)
    const flags = [...verb.usage.matchAll(/--([a-z][a-z0-9-]*)/g)].map(([, name = '']) => name)
    const words = [...places, ...flags].flatMap((word) => {
      if (word === 'FILE') return []
      if (word === 'CATALOG.TABLE')
        return ['catalog', ...(members.includes('namespace') ? ['namespace'] : []), 'table']
      if (word === 'TABLE' || word === 'table')
        return members.includes('namespace') ? ['namespace', 'table'] : ['table']
      return [
        ((verb.members?.[word] ?? verb.members?.[word.toLowerCase()])?.split('.')[0] ?? word)
          .toLowerCase()
          .replaceAll('-', '_'),
      ]
    })
    const set = [...words, ...Object.keys(verb.fixed ?? {})]
    const needed = membersOf(operation).filter(
      ({ required, place }) => required && !(place === 'body' && places.includes('FILE')),
    )
    const isPaged = operation.parameters.some(({ name }) => name === 'page_token')
    return [
      ...words.filter((word) => !members.includes(word)).map((word) => `${verb.words}: no member ${word}`),
      ...needed
        .filter(({ name }) => !set.includes(name.toLowerCase().replaceAll('-', '_')))
        .map(({ name }) => `${verb.words}: requires ${name}`),
      ...(isPaged === (verb.lists === 'pages') ? [] : [`${verb.words}: pages`]),
      ...(places.includes('FILE') && operation.media.length === 0 ? [`${verb.words}: takes no file`] : []),
    ]
  })
  expect(problems).toEqual([])
})

test('each verb answers --help without a service, with its usage', async () => {
  for (const verb of namedVerbs) {
    const { status, out, err } = await run(...verb.words.split(' '), '--help')
    expect({ words: verb.words, status, err }).toEqual({ words: verb.words, status: 0, err: '' })
    expect(out).toStartWith(`Usage: covenant ${usageOf(verb)}\n`)
    expect(out).toContain('--json ')
  }
})

test('the examples of a verb are calls of that verb', () => {
  const strange = namedVerbs.flatMap(({ words, examples = [] }) =>
    examples
      .filter((example) => !namedVerbs.some((one) => `${example} `.startsWith(`${one.words} `)))
      .map(() => words),
  )
  expect(strange).toEqual([])
})

test('each verb that needs no word but --json prints JSON with it, and text without', async () => {
  const bare = namedVerbs.filter((verb) => {
    const operation = operationOf(verb)
    return (
      operation?.method === 'GET' &&
      placesOf(verb.usage).every(({ required }) => !required) &&
      !/(^| )--/.test(verb.usage)
    )
  })
  expect(bare.length).toBeGreaterThan(25)
  for (const verb of bare) {
    const words = verb.words.split(' ')
    const { status, out, err } = await run(...words, '--json')
    // Nothing of the audit is signed before a key is set, and a proof is of one of four.
    const isOfService = [
      'get_license',
      'list_service_keys',
      'get_audit_checkpoint',
      'get_audit_proof',
    ].includes(verb.operation)
    if (status !== 0 && !isOfService) throw new Error(`${verb.words}: ${err}`)
    // The license and the keys of the service are for the internal organization alone.
    if (isOfService) expect(status).toBe(verb.operation === 'get_audit_proof' ? 64 : 1)
    else if (verb.operation === 'export_decisions' || verb.operation === 'export_usage')
      expect(status).toBe(0)
    else
      expect({ words: verb.words, value: typeof JSON.parse(out) }).toEqual({
        words: verb.words,
        value: 'object',
      })
    if (status === 0) expect((await run(...words)).status).toBe(0)
  }
})

test('each verb offers its words and flags to a shell', async () => {
  for (const verb of namedVerbs) {
    const { out } = await run('completion', 'words', '--', ...verb.words.split(' '), '--')
    expect({ words: verb.words, offered: out.split('\n').includes('--json') }).toEqual({
      words: verb.words,
      offered: true,
    })
  }
})
