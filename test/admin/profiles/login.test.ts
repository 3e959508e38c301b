/** `covenant login`, `logout`, `profiles` and --profile, against a real service and a real OpenID Connect provider. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCovenant } from '../../../src/admin/verbs.ts'
import { ask, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { Browser, deviceClientId, startProvider, type TestProvider } from '../../support/oidc-provider.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { start } from '../../support/start-program.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let provider: TestProvider
let url: string
/** A session of each tenant that only reads. */
let ours: string
let theirs: string
let home: string

beforeAll(async () => {
  provider = await startProvider()
  service = await startIdentityService({ env: { SVC_UPSTREAM_ALLOW: '127.0.0.1/32' } })
  url = service.app.url.origin
  provider.start(new URL('/callback', url).href)
  const tenant = (await makeTenant(service.store, { name: 'ours', organizationId: 'org_ours' })).id
  const foreign = (await makeTenant(service.store, { name: 'theirs', organizationId: 'org_theirs' })).id
  const owner = await session(service, tenant, ['read', 'admin'], ['owner'], 'olga')
  const issuer = { issuer: provider.issuer, audience: deviceClientId, subject_prefix: 'people:' }
  expect((await ask(service, 'PUT', '/api/v1/token-issuers/people', owner, issuer)).status).toBe(200)
  ours = await session(service, tenant, ['read', 'admin'], [], 'cli')
  theirs = await session(service, foreign, ['read', 'admin'], [], 'cli')
  provider.accounts.set('ann', { claims: { org_id: 'org_ours', roles: ['steward'] } })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'covenant-home-'))
})

const file = () => join(home, 'covenant', 'profiles.json')
const stored = async () =>
  (await Bun.file(file()).json()) as { current?: string; profiles: Record<string, never> }

async function run(
  words: readonly string[],
  {
    stdin = '',
    env = {} as Record<string, string>,
    types = undefined as string | undefined,
    tell = (_: string) => {},
  } = {},
) {
  const [out, err]: [string[], string[]] = [[], []]
  const hidden: unknown[] = []
  const status = await runCovenant(words, {
    env: { XDG_CONFIG_HOME: home, ...env },
    stdin: async () => stdin,
    print: (text) => void out.push(text),
    complain(text) {
      err.push(text)
      tell(text)
    },
    ...(types !== undefined && {
      async ask(_: string, how?: object) {
        hidden.push(how)
        return types
      },
    }),
  })
  return { status, out: out.join('\n'), err: err.join('\n'), hidden }
}
const logIn = (words: readonly string[] = [], secret = ours) =>
  run(['login', '--url', url, ...words], { stdin: `${secret}\n` })

/** Logs in by the device grant, as a person does who opens the address. */
async function logInAs(sub: string, words: readonly string[] = [], secret = ours) {
  let agreed: Promise<void> | undefined
  const ended = await run(
    ['login', '--url', url, '--issuer', provider.issuer, '--client-id', deviceClientId, ...words],
    {
      stdin: secret,
      tell(text) {
        const address = /Open (\S+) in a browser/.exec(text)?.[1]
        if (address !== undefined) agreed = new Browser().agreeToDevice(address, sub)
      },
    },
  )
  await agreed
  return ended
}

describe('a session', () => {
  test('is checked, remembered for its owner alone, and used from then on', async () => {
    const { status, out, err } = await logIn()
    expect([status, err]).toEqual([0, ''])
    expect(out).toMatch(/^Logged in as cli \(no roles\) of tenant \S+; profile default is in use\.$/)
    expect(out).not.toContain(ours)
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(statSync(join(home, 'covenant')).mode & 0o777).toBe(0o700)
    expect((await run(['whoami'])).out).toMatch(/^ {2}sub +cli$/m)
  })

  test('that the service does not take, or that is none, is not remembered and not repeated', async () => {
    const wrong = await logIn([], `${ours}x`)
    expect(wrong.status).toBe(1)
    expect(wrong.out + wrong.err).not.toContain(ours)
    expect((await logIn([], '')).status).toBe(64)
    const argument = await run(['login', 'svc_secret', '--url', url])
    expect(argument.status).toBe(64)
    expect(argument.err).not.toContain('svc_secret')
    expect(await Bun.file(file()).exists()).toBe(false)
  })

  test('is typed on a terminal without being shown', async () => {
    const { status, hidden } = await run(['login', '--session', '--url', url], { types: ours })
    expect([status, hidden]).toEqual([0, [{ isHidden: true }]])
  })

  test('goes to its own service alone', async () => {
    await logIn()
    const asked: string[] = []
    using other = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        asked.push(request.url)
        return new Response('{}')
      },
    })
    const elsewhere = await run(['whoami', '--url', other.url.origin])
    expect([elsewhere.status, asked]).toEqual([64, []])
    expect(elsewhere.err).toStartWith('The profile is for another service')
  })
})

describe('profiles', () => {
  test('are listed without secrets, chosen and removed', async () => {
    await logIn(['--profile', 'first'])
    await logIn(['--profile=second'], theirs)
    const list = await run(['profiles', 'list'])
    expect(list.out.split('\n').map((line) => line.split(/ +/).slice(0, 2))).toEqual([
      ['NAME', 'IN'],
      ['first', 'no'],
      ['second', 'yes'],
    ])
    expect(list.out + (await run(['profiles', 'list', '--json'])).out).not.toMatch(/svc_/)
    const tenantOf = async (...words: string[]) =>
      JSON.parse((await run([...words, 'whoami', '--json'])).out).tenant
    const [second, first] = [await tenantOf(), await tenantOf('--profile', 'first')]
    expect(first).not.toBe(second)
    const named = await run(['whoami', '--json'], { env: { COVENANT_PROFILE: 'first' } })
    expect(JSON.parse(named.out).tenant).toBe(first)
    expect((await run(['profiles', 'use', 'first'])).out).toBe('Done.')
    expect(await tenantOf()).toBe(first)
    expect((await run(['logout'])).out).toBe('Logged out; profile first is forgotten.')
    expect((await run(['whoami'])).status).toBe(64)
    expect((await run(['profiles', 'remove', 'second'])).status).toBe(0)
    expect(await stored()).toEqual({ profiles: {} })
  })

  test('give way to the environment', async () => {
    await logIn(['--profile', 'first'])
    const env = { COVENANT_URL: url, COVENANT_SESSION: theirs }
    const given = JSON.parse((await run(['whoami', '--json', '--profile', 'first'], { env })).out)
    const plain = JSON.parse((await run(['whoami', '--json'])).out)
    expect(given.tenant).not.toBe(plain.tenant)
  })

  test('that are not there, or named wrongly, are refused without their name', async () => {
    for (const words of [
      ['--profile', 'nobody'],
      ['--profile', '../secret'],
      ['--profile', '__proto__'],
    ]) {
      const { status, err } = await run([...words, 'whoami'])
      expect(status).toBe(64)
      expect(err).not.toContain(words[1] ?? '')
    }
    expect((await run(['whoami', '--profile'])).err).toStartWith('--profile takes one name')
    expect((await run(['whoami', '--profile', 'a', '--profile', 'b'])).status).toBe(64)
  })

  test('in a file that others may read, or that holds something else, are refused', async () => {
    await logIn()
    chmodSync(file(), 0o644)
    const open = await run(['whoami'])
    expect([open.status, open.err.split('\n')[0]]).toEqual([
      64,
      'The file of profiles must be a file that only its owner may read: chmod 600 it',
    ])
    chmodSync(file(), 0o600)
    await Bun.write(file(), '{"profiles": {"a": "svc_secret"}}')
    const strange = await run(['whoami'])
    expect([strange.status, strange.err.includes('svc_secret')]).toEqual([64, false])
  })

  test('in use do not take administration away from the store; one that is named does', async () => {
    await logIn()
    const { env } = { env: { SVC_DATA_DIR: join(home, 'nothing', 'there'), XDG_CONFIG_HOME: home } }
    const child = start({ ...env }, ['admin', 'policy', 'list'])
    const err = await child.stderr.text()
    expect([await child.exited, err.includes('--tenant is required')]).toEqual([64, true])
    const named = await run(['--profile', 'default', 'admin', 'policy', 'list'])
    // The session may not list policies: the service was asked.
    expect(named.err).toContain('This request needs the role')
  })
})

describe('a login by a code', () => {
  test('acts for the person, with their roles, in the tenant of the session', async () => {
    const { status, out, err } = await logInAs('ann')
    expect(err).toMatch(
      /^Open http:\/\/127\.0\.0\.1:\d+\/device\?user_code=\S+ in a browser\. The code is \S+\.$/,
    )
    expect(status).toBe(0)
    expect(out).toContain('Logged in as people:ann (roles steward) of tenant')
    const seen = JSON.parse((await run(['whoami', '--json'])).out)
    expect(seen.principal).toMatchObject({ sub: 'people:ann', roles: ['steward'] })
    // Stewards list policies; the session alone may not.
    expect((await run(['call', 'list_policies'])).status).toBe(0)
    const list = await run(['profiles', 'list', '--json'])
    const { token } = (await stored()).profiles.default as unknown as { token?: string }
    expect(list.out).not.toContain(token ?? 'eyJ')
  })

  test('is renewed when its token has expired, and asks to log in again where it cannot be', async () => {
    await logInAs('ann')
    const expire = async (change: (login: Record<string, unknown>) => void) => {
      const before = (await stored()) as unknown as {
        profiles: { default: { login: Record<string, unknown> } }
      }
      change(before.profiles.default.login)
      await Bun.write(file(), JSON.stringify(before))
    }
    await expire((login) => {
      login.expires_at = 0
      login.token = 'expired'
    })
    expect((await run(['whoami'])).out).toContain('people:ann')
    const renewed = (await stored()) as unknown as {
      profiles: { default: { login: { expires_at: number; token: string } } }
    }
    expect(renewed.profiles.default.login.expires_at).toBeGreaterThan(Date.now())
    expect(renewed.profiles.default.login.token).toStartWith('eyJ')
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    await expire((login) => {
      login.expires_at = 0
      login.refresh_token = 'gone'
    })
    const gone = await run(['whoami'])
    expect([gone.status, gone.err]).toEqual([
      1,
      'The login of the profile has expired. Run covenant login again.',
    ])
  })

  test('of an issuer that the tenant does not trust is not remembered', async () => {
    const { status, out, err } = await logInAs('ann', [], theirs)
    expect([status, out]).toEqual([1, ''])
    expect(err).not.toContain('eyJ')
    expect(await Bun.file(file()).exists()).toBe(false)
  })

  test('takes an https issuer, both flags, and no --session', async () => {
    const refused = async (...words: string[]) => (await logIn(words)).err.split('\n')[0]
    expect(await refused('--issuer', 'http://idp.example', '--client-id', 'x')).toContain(
      '--issuer must be an https://',
    )
    expect(await refused('--issuer', provider.issuer)).toBe('--issuer and --client-id go together')
    expect(await refused('--session', '--issuer', provider.issuer, '--client-id', 'x')).toBe(
      '--session and --issuer do not go together',
    )
    expect(await refused('--issuer', provider.issuer, '--client-id', 'nobody')).toMatch(
      /^The issuer refused the login: \w+\. Log in again\.$/,
    )
    rmSync(home, { recursive: true })
  })
})
