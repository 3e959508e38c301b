/** The settings of a catalog credential for its Trino, and how the service authenticates there. */

import { expect, test } from 'bun:test'
import { parseTrinoSettings } from '../../../src/engine/trino/settings.ts'
import { ask, finished, scriptTrino } from './scripted-trino.ts'

const base = { 'trino.uri': 'https://trino.example/', 'trino.catalog': 'lake' }

test('a credential without trino.uri has no Trino', () => {
  expect(parseTrinoSettings({ config: { warehouse: 'w' } })).toBeUndefined()
})

test.each([
  [
    { 'trino.user': 'svc', 'trino.password': 'p' },
    { kind: 'password', user: 'svc', password: 'p' },
  ],
  [{ 'trino.token': 'a.b.c' }, { kind: 'token', token: 'a.b.c' }],
  [{}, { kind: 'none' }],
])('reads how to sign in: %j', (config, auth) => {
  expect(parseTrinoSettings({ config: { ...base, ...config } })?.auth).toEqual(auth as never)
})

test.each([
  { 'trino.uri': 'ftp://trino.example' },
  { 'trino.uri': 'https://user:SECRET@trino.example' },
  { 'trino.uri': 5 },
  { 'trino.catalog': '' },
  { 'trino.user': 'SECRET' },
  { 'trino.password': 'SECRET' },
  { 'trino.user': 'a:b', 'trino.password': 'SECRET' },
  { 'trino.user': 'a', 'trino.password': 'SECRET', 'trino.token': 'SECRET' },
  { 'trino.token': 'SECRET\r\nx: y' },
  { 'trino.uri': 'http://trino.example', 'trino.token': 'SECRET' },
  { 'trino.segment-origins': 'https://s3.example/bucket' },
  { 'trino.segment-origins': 'SECRET' },
])('refuses %j, and repeats no value of it', (config) => {
  let message = ''
  try {
    parseTrinoSettings({ config: { ...base, ...config } })
  } catch (error) {
    message = String(error)
  }
  expect(message).toContain('The Trino configuration cannot be used.')
  expect(message).not.toContain('SECRET')
})

test('a password and a token are told to the coordinator with every request', async () => {
  for (const [auth, expected] of [
    [{ kind: 'password', user: 'svc', password: 'pä' }, `Basic ${Buffer.from('svc:pä').toString('base64')}`],
    [{ kind: 'token', token: 'a.b.c' }, 'Bearer a.b.c'],
  ] as const) {
    await using trino = scriptTrino([(self) => ({ ...finished, nextUri: self.next(1) }), finished])
    await ask(trino.url, { auth })
    expect(trino.seen.map(({ headers }) => headers.get('authorization'))).toEqual([expected, expected])
  }
})
