/** Runs the commands of the pages on policies and on decisions, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { session } from '../support/identity.ts'
import { startTestService } from '../support/service.ts'

setDefaultTimeout(300_000)

const page = (name: string) => Bun.file(new URL(`../../docs/${name}.md`, import.meta.url)).text()

test('the commands do what the pages say', async () => {
  await using service = await startTestService()
  const secret = await session(service, service.owner.tenant, ['read', 'admin'], ['administrator'])
  const text = [await page('policies'), await page('audit')].join('\n')
  const script = [...text.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block]) => block)
    .join('\n')
    .replaceAll('https://covenant.example', service.app.url.href.replace(/\/$/, ''))
    .replaceAll('curl -sS', 'curl -sS --fail-with-body')
  const cwd = mkdtempSync(join(tmpdir(), 'covenant-docs-'))
  const shell = Bun.spawn(['bash', '-e', '-c', script], {
    cwd,
    env: { ...process.env, SECRET: secret },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exit] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out).toContain('{"saveable":true,"problems":[],"pinnable":true}')
  expect(out).toContain('"scopes":[{"namespace":["sales"]}]')
  expect(out).toContain('"action":"unbind"')
  expect(out).toContain('"scope":{"namespace":["sales"]}')
  expect(await Bun.file(join(cwd, 'decisions.csv')).text()).toStartWith('commit_id,created_at,decision')
  rmSync(cwd, { recursive: true })
})
