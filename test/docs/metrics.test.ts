/** Runs the commands and the SQL of the page on metrics, as a reader pastes them. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deleteContract } from '../../src/contract/delete-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { actorOf } from '../support/actor.ts'
import { readAs, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(300_000)

const ordersTable = {
  name: 'orders',
  columns: [
    ['id', 'bigint', 'i'],
    ['placed_on', 'date', "CAST(date '2026-01-01' + CAST(i % 90 AS integer) AS date)"],
    ['status', 'text', "CASE i % 2 WHEN 0 THEN 'paid' ELSE 'open' END"],
    ['region', 'text', "CASE i % 3 WHEN 0 THEN 'north' ELSE 'south' END"],
    ['amount', 'numeric(10,2)', 'i'],
  ] as const,
  rowCount: 300,
}
const salariesTable = {
  name: 'salaries',
  columns: [
    ['person', 'bigint', 'i'],
    ['team', 'text', "CASE WHEN i <= 30 THEN 'large' WHEN i <= 35 THEN 'small' ELSE 'wide' END"],
    ['salary', 'integer', '50000 + i'],
  ] as const,
  rowCount: 65,
}

test('the commands do what the page says', async () => {
  await using lake = await startLake({
    tables: [ordersTable, salariesTable],
    env: { SVC_LICENSE: licenseForAll() },
  })
  const { store, tenant } = lake
  const on = { store, tenant, actor: actorOf('x'), checkPolicies }
  const tag = 'sensitive.pay'
  await putMask(on, { tag }, { id: 'hide-pay', action: 'replace-with-null', exemptRoles: [] })
  await putTag(on, { namespace: ['sales'], name: 'salaries' }, 'salary', tag)
  // The page begins with a table that nobody may read yet.
  expect(await deleteContract(on, { namespace: ['sales'], name: 'orders' })).toBe(true)
  const open = async (sub: string) => {
    const session = { name: sub, principal: { sub, roles: ['steward'] }, scopes: ['read', 'admin'] as const }
    return (await createServiceSession(store, tenant, session)).secret
  }
  const page = await Bun.file(new URL('../../docs/metrics.md', import.meta.url)).text()
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block]) => block ?? '')
  const script = blocks('sh').join('\n').replaceAll('curl -sS', 'curl -sS --fail-with-body -w "\\n"')
  const folder = await mkdtemp(join(tmpdir(), 'covenant-metrics-'))
  await using _ = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
  const shell = Bun.spawn(['bash', '-e', '-c', script], {
    cwd: folder,
    env: {
      ...process.env,
      BASE: lake.app.url.href.replace(/\/$/, ''),
      SECRET: await open('stella'),
      SECOND: await open('sam'),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exit] = await Promise.all([
    new Response(shell.stdout).text(),
    new Response(shell.stderr).text(),
    shell.exited,
  ])
  expect({ exit, err, out: exit === 0 ? '' : out }).toEqual({ exit: 0, err: '', out: '' })
  const answers = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const [byMonth, bySalary] = answers.filter((answer) => 'rows' in answer)
  expect(byMonth?.rows).toHaveLength(6)
  expect(bySalary?.rows).toEqual([
    ['large', expect.stringMatching(/^50015\.5/)],
    ['small', null],
    ['wide', expect.stringMatching(/^50050\.5/)],
  ])
  expect(answers.find((answer) => 'not_carried' in answer && 'metrics' in answer)).toMatchObject({
    metrics: ['open_amount'],
    not_carried: [{ at: '/models/0/columns/4/data_tests' }],
  })
  expect(JSON.stringify(answers.find((answer) => 'document' in answer))).toContain('open_amount')
  for (const sql of blocks('sql')) expect(await readAs(lake.env, sql)).toContain('C SELECT 2')
})
