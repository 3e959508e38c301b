/** Runs the commands of docs/contracts-in-git.md, and the steps of the workflow that it names, as a runner does. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type ContractWorld, contractText, startContractWorld } from '../admin/contracts/world.ts'
import { commitColumns } from '../support/governed.ts'

setDefaultTimeout(300_000)

const root = join(import.meta.dir, '../..')
let world: ContractWorld

beforeAll(async () => {
  world = await startContractWorld(['orders', 'people'])
  await commitColumns(
    world.service.store,
    world.tenant,
    { namespace: ['crm'], name: 'customers' },
    { id: 'long' },
  )
  expect((await world.ask('PUT', '/documents/orders', world.stella, contractText('orders')))[0]).toBe(200)
})
afterAll(() => world[Symbol.asyncDispose]())

async function bash(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  const path = `${join(root, 'bin')}:${process.env.PATH ?? ''}`
  const shell = Bun.spawn(['bash', '-e', '-c', script], {
    cwd,
    env: { PATH: path, HOME: cwd, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
  return { out, err, code }
}

test('the commands of the page do what it says', async () => {
  const text = readFileSync(join(root, 'docs/contracts-in-git.md'), 'utf8')
  const script = [...text.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, block]) => block)
    .join('\n')
    .replaceAll('https://covenant.example', world.service.app.url.origin)
  const folder = mkdtempSync(join(tmpdir(), 'covenant-page-'))
  writeFileSync(join(folder, '.covenant-session'), world.ci)
  const { out, err, code } = await bash(script, folder, {})
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain('written contracts/orders.odcs.yaml  (orders)')
  expect(readFileSync(join(folder, 'contracts/orders.odcs.yaml'), 'utf8')).toBe(contractText('orders'))
  expect(out).toContain('+ customers 1.0.0  (contracts/customers.odcs.yaml)')
  expect(out).toContain('customers 1.0.0 is proposed, needs sign-off by a steward who did not write it')
  expect(out).toContain('0 to add, 0 to change, 0 to deprecate, 2 unchanged, of these 1 on their way.')
  rmSync(folder, { recursive: true })
})

interface Workflow {
  readonly on: object
  readonly env: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<string, { readonly if: string; readonly steps: readonly { run?: string; env?: object }[] }>
  >
}

test('the steps of the workflow plan a pull request and apply a merge', async () => {
  const workflow = parse(readFileSync(join(root, 'deploy/github-actions/contracts.yml'), 'utf8')) as Workflow
  expect(Object.keys(workflow.on)).toEqual(['pull_request', 'push', 'schedule'])
  expect(Object.values(workflow.jobs).map((job) => job.if)).toEqual([
    "github.event_name != 'push'",
    "github.event_name == 'push'",
  ])
  const folder = mkdtempSync(join(tmpdir(), 'covenant-workflow-'))
  mkdirSync(join(folder, 'contracts'))
  const file = join(folder, 'contracts/people.odcs.yaml')
  const env = {
    COVENANT_URL: world.service.app.url.origin,
    COVENANT_MANAGED_BY: 'acme/contracts',
    COVENANT_SESSION: world.ci,
    GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    GITHUB_PATH: join(folder, 'path'),
  }
  expect(Object.keys(workflow.env)).toEqual(['COVENANT_URL', 'COVENANT_MANAGED_BY'])
  const job = async (name: string) => {
    const steps = (workflow.jobs[name]?.steps ?? []).flatMap(({ run }) => run ?? [])
    expect(steps.length).toBeGreaterThan(1)
    const outputs: string[] = []
    for (const step of steps) {
      const { out, err, code } = await bash(step, folder, env)
      outputs.push(out, err)
      if (code !== 0) return { code, text: outputs.join('') }
    }
    return { code: 0, text: outputs.join('') }
  }

  writeFileSync(file, `${contractText('people')}id: twice\n`)
  expect(await job('plan')).toMatchObject({
    code: 1,
    text: expect.stringContaining(':17:1: error: The key id is there twice'),
  })
  writeFileSync(file, contractText('people'))
  const planned = await job('plan')
  expect(planned.code).toBe(0)
  expect(readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8')).toContain(
    '+ people 1.0.0  (contracts/people.odcs.yaml)',
  )

  expect(await job('apply')).toMatchObject({
    code: 0,
    text: expect.stringContaining('people 1.0.0 is proposed'),
  })
  const [, { sha256 }] = await world.ask('GET', '/documents/people/versions/1', world.stella)
  await world.ask('POST', '/documents/people/versions/1/sign-offs', world.stella, { sha256 })
  expect(await job('apply')).toMatchObject({
    code: 0,
    text: expect.stringContaining('people 1.0.0 is active'),
  })
  expect((await job('plan')).text).toContain('0 to add, 0 to change, 0 to deprecate, 1 unchanged.')
  rmSync(folder, { recursive: true })
})
