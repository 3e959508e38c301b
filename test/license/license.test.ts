/** Licenses: which ones verify, what their end means, and the command that issues and shows them. */

import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../../src/base/fault.ts'
import { commercialCapabilities, communityCapabilities } from '../../src/core/capability.ts'
import type { LicenseKey } from '../../src/license/keys.ts'
import { verifyLicense } from '../../src/license/license.ts'
import { licensedBy } from '../../src/license/licensed.ts'
import { testLicenseKey as production, signLicense } from '../support/license.ts'

const day = 86_400_000
const claims = {
  id: 'l-1',
  licensee: 'Acme',
  capabilities: ['graphql', 'mcp', 'something-newer'],
  tenants_max: 2,
  issued_at: '2026-01-01T00:00:00Z',
  expires_at: '2026-02-01T00:00:00Z',
  grace_days: 14,
}

function licenseText(changes: object = {}, header?: object, key?: KeyObject): string {
  return signLicense({ ...claims, ...changes }, header, key)
}

function problem(text: string, development = false, keys: readonly LicenseKey[] = [production]): string {
  try {
    verifyLicense(text, development, keys)
  } catch (error) {
    if (error instanceof Fault && error.kind === 'misconfigured') return error.publicMessage
    throw error
  }
  return 'none'
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const process_ = Bun.spawn([process.execPath, 'src/main.ts', 'license', ...args], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([process_.stdout.text(), process_.stderr.text()])
  return { out: out.trim(), err: err.trim(), code: await process_.exited }
}

describe('a license', () => {
  test('that is signed with a known key says what it says; unknown capabilities are left out', () => {
    expect(verifyLicense(`${licenseText()}\n`, false, [production])).toEqual({
      id: 'l-1',
      licensee: 'Acme',
      capabilities: ['graphql', 'mcp'],
      tenantsMax: 2,
      issuedAtMs: Date.parse(claims.issued_at),
      expiresAtMs: Date.parse(claims.expires_at),
      graceMs: 14 * day,
      development: false,
    })
  })

  test('that was changed, or is signed by another or in another way, is refused', () => {
    const [header = '', payload = '', signature = ''] = licenseText().split('.')
    const other = generateKeyPairSync('ed25519').privateKey
    const grown = Buffer.from(JSON.stringify({ ...claims, tenants_max: 999 })).toString('base64url')
    expect(problem(`${header}.${grown}.${signature}`)).toContain('signature')
    expect(problem(`${header}.${payload}.`)).toContain('signature')
    expect(problem(licenseText({}, {}, other))).toContain('signature')
    expect(problem(licenseText({}, { kid: 'release-2' }))).toContain('key')
    for (const alg of ['none', 'HS256', 'RS256'])
      expect(problem(licenseText({}, { alg }))).toContain('not a signed')
    expect(problem(licenseText({}, { typ: 'JWT' }))).toContain('not a signed')
    for (const text of ['', 'x', 'a.b.c', '..', 'x'.repeat(20_000), `${licenseText()}.x`])
      expect(problem(text)).toContain('not a signed')
  })

  test.each([
    { id: 7 },
    { capabilities: 'graphql' },
    { capabilities: [7] },
    { tenants_max: -1 },
    { tenants_max: '5' },
    { grace_days: 1.5 },
    { grace_days: undefined },
    { expires_at: 'never' },
    { expires_at: claims.issued_at },
    { issued_at: undefined },
  ])('whose content holds %j is refused', (changes) => {
    expect(problem(licenseText(changes))).toContain('malformed')
  })

  test('of the development key counts under SVC_DEMO=1 only', () => {
    const development = { ...production, development: true }
    expect(problem(licenseText(), false, [development])).toContain('SVC_DEMO=1')
    expect(verifyLicense(licenseText(), true, [development]).development).toBe(true)
  })
})

describe('what may run', () => {
  const at = (time: string) =>
    licensedBy(verifyLicense(licenseText(), false, [production]), { now: () => Date.parse(time) })
  const refusal = (work: () => void): string => {
    try {
      work()
    } catch (error) {
      if (error instanceof Fault && error.kind === 'forbidden') return error.publicMessage
      throw error
    }
    return ''
  }

  test('without a license is the community’s part, and any number of tenants', () => {
    const none = licensedBy(undefined, { now: () => 0 })
    expect(none.state()).toBe('none')
    for (const capability of communityCapabilities) none.require(capability)
    for (const capability of commercialCapabilities)
      expect(refusal(() => none.require(capability))).toBe(
        `The capability \`${capability}\` needs a license, and none is installed.`,
      )
    none.requireRoomForTenant(1_000)
  })

  test('with one is what it names, until its grace is over; the community’s part outlives it', () => {
    const states = ['2026-01-15', '2026-02-01T00:00:00Z', '2026-02-14T23:59:59Z', '2026-02-15T00:00:00Z']
    expect(states.map((time) => at(time).state())).toEqual(['valid', 'grace', 'grace', 'expired'])
    for (const time of states.slice(0, 3)) {
      at(time).require('graphql')
      expect(refusal(() => at(time).require('xmla'))).toContain('is not part of the installed license')
    }
    const late = at('2026-02-15T00:00:00Z')
    expect(refusal(() => late.require('graphql'))).toContain('has expired')
    for (const capability of communityCapabilities) late.require(capability)
  })

  test('the tenant limit refuses the next tenant and says why', () => {
    at('2026-01-15').requireRoomForTenant(1)
    expect(refusal(() => at('2026-01-15').requireRoomForTenant(2))).toBe(
      'The installed license allows 2 tenants, and 2 exist.',
    )
  })
})

describe('covenant license', () => {
  test('issues a development license that inspect shows and production refuses', async () => {
    const issued = await run(['issue', '--licensee', 'Acme', '--capabilities', 'graphql', '--tenants', '3'])
    expect(issued).toMatchObject({ code: 0, err: '' })
    expect(() => verifyLicense(issued.out, false)).toThrow('SVC_DEMO=1')
    expect(verifyLicense(issued.out, true).tenantsMax).toBe(3)
    const shown = await run(['inspect'], { SVC_LICENSE: issued.out })
    expect(JSON.parse(shown.out)).toMatchObject({
      licensee: 'Acme',
      capabilities: ['graphql'],
      state: 'valid',
      development: true,
    })
  })

  test('says what is wrong, with 64 for its usage and 1 for the license', async () => {
    expect((await run(['inspect'])).code).toBe(64)
    expect((await run(['issue'])).code).toBe(64)
    expect((await run(['issue', '--licensee', 'x', '--capabilities', 'all'])).code).toBe(64)
    const refused = await run(['inspect'], { SVC_LICENSE: 'nonsense' })
    expect(refused).toMatchObject({ code: 1, err: 'The license was refused: it is not a signed license.' })
  })

  test.each(['--days=0', '--days=', '--days=1e3', '--tenants=', '--grace-days=0x1', '--tenants=1000001'])(
    'issues nothing with %s',
    async (flag) => {
      expect(await run(['issue', '--licensee', 'x', flag])).toMatchObject({ code: 64, out: '' })
    },
  )

  test('repeats no license and no key that was put where a file’s name goes, nor what a file holds', async () => {
    const notAKey = join(mkdtempSync(join(tmpdir(), 'covenant-license-')), 'key')
    writeFileSync(notAKey, 'Zk4canary')
    for (const words of [
      ['inspect', 'Zk4canary.Zk4canary.Zk4canary'],
      ['issue', '--licensee', 'x', '--key-id', 'k', '--key', '{"d":"Zk4canary"}'],
      ['issue', '--licensee', 'x', '--key-id', 'k', '--key', notAKey],
    ]) {
      const { code, out, err } = await run(words)
      expect({ code, out }).toEqual({ code: 64, out: '' })
      expect(err).not.toContain('Zk4canary')
    }
  })
})
