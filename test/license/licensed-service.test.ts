/** A license in a running service: what it limits, what it shows, and when it keeps a service from starting. */

import { expect, test } from 'bun:test'
import { startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import { call, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'

function issue(...flags: readonly string[]): string {
  const args = ['src/main.ts', 'license', 'issue', '--licensee', 'Acme', ...flags]
  const cwd = new URL('../..', import.meta.url).pathname
  return Bun.spawnSync([process.execPath, ...args], { cwd })
    .stdout.toString()
    .trim()
}

test('a development license limits tenants of a walkthrough, is shown, and starts no production service', async () => {
  const valid = {
    SVC_LICENSE: issue('--tenants', '3', '--capabilities', 'detection', '--days', '30'),
    SVC_DEMO: '1',
  }
  const clock = { ms: Date.now() }
  await using service = await startIdentityService({ env: valid, clock: { now: () => clock.ms } })
  const admin = (method: string, path: string, body?: unknown) =>
    call(service, method, path, { secret: service.operator, body })

  expect(await (await admin('GET', '/admin/license')).json()).toMatchObject({
    state: 'valid',
    licensee: 'Acme',
    development: true,
    tenants_max: 3,
  })
  expect((await admin('POST', '/admin/tenants', { name: 'third' })).status).toBe(201)
  const fourth = await admin('POST', '/admin/tenants', { name: 'fourth' })
  expect(fourth.status).toBe(403)
  expect(await fourth.text()).toContain('allows 3 tenants, and 3 exist')

  service.app.licensed.require('detection')
  expect((await admin('GET', '/api/v1/detection/runs')).status).toBe(200)
  expect(() => service.app.licensed.require('mcp')).toThrow('not part of the installed license')
  clock.ms += 45 * 86_400_000
  expect(() => service.app.licensed.require('detection')).toThrow('has expired')
  expect((await admin('GET', '/api/v1/detection/runs')).status).toBe(403)
  service.app.licensed.require('gateway')
  expect(await (await admin('GET', '/admin/license')).json()).toMatchObject({ state: 'expired' })

  const { store, metrics, log } = service.app.gateway
  const production = parseConfig({ SVC_LICENSE: valid.SVC_LICENSE })
  await expect(startApp({ config: production, store, metrics, log })).rejects.toThrow('SVC_DEMO=1')
  const missing = parseConfig({ SVC_LICENSE_FILE: 'no/such/file' })
  await expect(startApp({ config: missing, store, metrics, log })).rejects.toThrow('cannot be read')
}, 300_000)

test('a key is trusted because the program holds it: processes bring none, and another one’s license is refused', async () => {
  await using service = await startIdentityService()
  const { store, metrics, log } = service.app.gateway
  const config = parseConfig({ SVC_LICENSE: licenseForAll(), SVC_DEMO: '1' })
  await expect(startApp({ config, store, metrics, log })).rejects.toThrow('does not have')
  for (const verb of ['serve', 'check', 'admin', 'migrate'])
    expect(await Bun.file(`src/admin/${verb}.ts`).text()).not.toContain('licenseKeys')
}, 300_000)
