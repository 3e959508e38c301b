/** Runs the commands on trying policies and on lineage by reading, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setProperties } from '../../demo/commits.ts'
import { prepareCall } from '../../src/admin/command.ts'
import { commands } from '../../src/admin/commands.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { actorOf } from '../support/actor.ts'
import { session } from '../support/identity.ts'
import { commit, orders, prefix, startTestService } from '../support/service.ts'

setDefaultTimeout(300_000)

test('the commands do what the pages say', async () => {
  await using service = await startTestService()
  expect((await commit(service, setProperties({ tier: 'gold' }))).status).toBe(200)
  const on = {
    store: service.store,
    tenant: service.owner.tenant,
    actor: actorOf('stella'),
    checkPolicies: () => [],
  }
  await putContract(on, orders, { id: 'orders', version: 1 })
  const { tenant, store } = on
  const endpoint = service.catalog.url
  const config = { endpoint, warehouse: 'dev', credential: 'gateway:s3cret' }
  await putCatalogCredential(store, tenant, {
    ...{ nickname: prefix, kind: 'alpha', endpoint },
    config: { ...config, storage_roots: [pathToFileURL(tmpdir()).href] },
  })
  const secret = await session(service, service.owner.tenant, ['read', 'admin'], ['steward'])
  const page = (name: string) => Bun.file(new URL(`../../docs/${name}.md`, import.meta.url)).text()
  const reading = (await page('lineage')).split('## Lineage by reading')[1] ?? ''
  const text = [await page('replay'), reading].join('\n')
  const script = [...text.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block]) => block)
    .join('\n')
    .replaceAll('https://covenant.example', service.app.url.href.replace(/\/$/, ''))
    .replaceAll('curl -sS', 'curl -sS --fail-with-body')
  const folder = mkdtempSync(join(tmpdir(), 'covenant-page-'))
  const path = `${join(import.meta.dir, '../../bin')}:${process.env.PATH ?? ''}`
  const shell = Bun.spawn(['bash', '-e', '-o', 'pipefail', '-c', script], {
    cwd: folder,
    env: { ...process.env, PATH: path, SECRET: secret },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exit] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  rmSync(folder, { recursive: true })
  expect(out).toContain('1 commit(s): 1 allowed.')
  expect(out).toContain('"commits":1')
  expect(out).toContain('"outcome":"deny"')
  expect(out).toContain('"row_filters":[],"columns":[{"name":"id"')
  expect(out).toContain('"where":"u = {')
  await service.app.jobs.run('replay-policies')
})

const shown = [
  ...(await Bun.file(new URL('../../docs/replay.md', import.meta.url)).text()).matchAll(
    /^covenant admin (replay .+)$/gm,
  ),
].map(([, line = '']) => line)

test.each(shown)('%s is a command, with flags that it takes', async (line) => {
  const filled = line.replace('--tenant ID', `--tenant ${crypto.randomUUID()}`)
  const prepared = await prepareCall(filled.split(' '), commands, async () => 'true')
  expect(prepared.operation).toContain('replay')
})
