/** Runs the commands of docs/quality.md, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contractOf, startQualityWorld } from '../contract/quality/world.ts'

setDefaultTimeout(300_000)

const page = await Bun.file(new URL('../../docs/quality.md', import.meta.url)).text()

test('the commands do what the page says', async () => {
  await using world = await startQualityWorld()
  const [, yaml = ''] = /```yaml\nquality:\n(.*?)```/s.exec(page) ?? []
  const rules = yaml
    .trim()
    .split('\n')
    .map((line) => line.replace(/^- /, ''))
  const tool = '{id: drift, type: custom, engine: soda, implementation: x}'
  await world.deploy(
    contractOf('2.0.0', {
      '': `[${[...rules, tool].join(', ')}]`,
      qty: '[{id: nulls, metric: nullValues, mustBe: 0}]',
    }),
  )
  const { runner } = world.lake.app.checks
  await runner.runDue()
  await world.measure()
  const cwd = mkdtempSync(join(tmpdir(), 'covenant-docs-'))
  const script = [...page.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block]) => block)
    .join('\n')
    .replaceAll('https://covenant.example/', world.lake.app.url.href)
    .replaceAll('curl -sS', 'curl -sS --fail-with-body')
  const shell = Bun.spawn(['bash', '-e', '-c', script], {
    cwd,
    env: { ...process.env, SECRET: world.stella },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exit] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out).toContain('"state":"cancelled"')
  expect(out).toContain('"key":"qty.nulls"')
  await runner.runDue()
  const [, { items }] = await world.ask('GET', '/api/v1/checks/runs', world.stella)
  expect(items as unknown as object[]).toMatchObject([
    ...[{ cause: 'external' }, { cause: 'request' }, { cause: 'request' }, { cause: 'request' }].map(
      (one) => ({
        ...one,
        state: 'passed',
      }),
    ),
    { cause: 'deploy', state: 'passed' },
  ])
  rmSync(cwd, { recursive: true })
})
