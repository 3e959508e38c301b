/** The pages of the service in a real browser. Its pictures are kept in .cache/logs, to be looked at. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'

const browser = '/usr/bin/chromium'
const logs = new URL('../../.cache/logs/', import.meta.url).pathname

if (existsSync(browser)) {
  let service: IdentityService
  beforeAll(async () => {
    service = await startIdentityService()
  }, 120_000)
  afterAll(() => service?.[Symbol.asyncDispose]())

  test('viewer: the first page leads to the API, which is shown and tried, and nothing is blocked or loaded from elsewhere', async () => {
    const secret = await session(service, service.owner.tenant, ['read'], ['steward'])
    const script = join(import.meta.dir, 'scripts/viewer_browser.mjs')
    const base = service.app.url.origin
    const { exitCode, output } = await runClient(
      'viewer',
      ['node', script, packageFolder('npm:playwright'), base, secret, logs],
      { seconds: 120 },
    )
    expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
    const seen = JSON.parse(output) as Record<string, unknown>
    expect(seen).toMatchObject({ heading: expect.stringContaining('XMLA'), problems: [], elsewhere: [] })
    expect(seen.sections).toBeGreaterThan(10)
    expect(seen.answered).toContain('steward')
    expect(seen.pictures).toEqual((seen.pictures as boolean[]).map(() => true))
  }, 150_000)
} else test.skip(`${browser} is not installed: the pages are not opened in a browser`, () => {})
