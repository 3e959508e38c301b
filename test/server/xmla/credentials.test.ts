/** The users that Basic credentials of XMLA name. */

import { expect, test } from 'bun:test'
import type { ReadCredential } from '../../../src/auth/read-credential.ts'
import { readCredential, userOf } from '../../../src/server/xmla/credentials.ts'

const bob = { principal: { sub: 'service:bob', roles: [] } } as unknown as ReadCredential
const reader = {
  bySecret: async (secret: string) => (secret === 'svc_right' ? bob : undefined),
  byVerifier: async () => undefined,
  suspended: async () => undefined,
}
const basic = (user: string, secret: string) => `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`

test.each(['bob', 'service:bob'])('a service logs in as %s', async (user) => {
  expect(await readCredential(reader, basic(user, 'svc_right'))).toBe(bob)
  expect(userOf(basic(user, 'svc_right'))).toBe(user)
})

test.each(['', 'service:', 'service:alice', 'bob:service'])(
  'a service does not log in as %p',
  async (user) => {
    expect(await readCredential(reader, basic(user, 'svc_right'))).toBeUndefined()
  },
)
