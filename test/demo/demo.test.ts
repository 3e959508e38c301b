import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkStep, type Expectation, type Observation } from '../../demo/check-step.ts'
import { type Reader, runPsql } from '../../demo/psql.ts'
import { psqlTable } from '../../demo/psql-table.ts'
import { readSteps } from '../../demo/read-steps.ts'
import { checkReadStep, type ReadObservation } from '../../demo/run-read-step.ts'
import { newTenantId } from '../../src/core/tenant.ts'

setDefaultTimeout(120_000)

const program = fileURLToPath(new URL('../../demo/main.ts', import.meta.url))

const queryProgram = fileURLToPath(new URL('../../demo/query.ts', import.meta.url))

/** The demo in a process of its own, whose temporary directory is `folder`. */
function start(args: readonly string[], folder: string, env: Readonly<Record<string, string>> = {}) {
  return Bun.spawn([process.execPath, program, ...args], {
    env: { PATH: process.env.PATH, TMPDIR: folder, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

function temporary() {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-demo-test-'))
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

/** By what stands in for psql. */
async function runQuery({ sub, secret, host, port, database }: Reader, statement: string): Promise<string> {
  const url = `postgresql://${sub}@${host}:${port}/${database}`
  const child = Bun.spawn([process.execPath, queryProgram, '-X', url, '-c', statement], {
    env: { PGPASSWORD: secret },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
}

/** The psql command lines in what the demo prints. */
const queriesIn = (text: string) =>
  [
    ...text.matchAll(
      /^PGPASSWORD=(\S+) psql -X 'postgresql:\/\/(\w+)@127\.0\.0\.1:(\d+)\/(\w+)' -c (['"])(.*)\5$/gm,
    ),
  ].map(([, secret = '', sub = '', port, database = '', , statement = '']) => ({
    reader: { sub, secret, host: '127.0.0.1', port: Number(port), database },
    statement,
  }))

const left = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('covenant-'))

/** What the README says that one sees. */
const shownByReadme = (
  /^## Try it$.*?^```text\n(.*?)^```/ms.exec(
    readFileSync(new URL('../../README.md', import.meta.url), 'utf8'),
  )?.[1] ?? ''
)
  .split('\n')
  .filter((line) => line !== '')

describe('the demo', () => {
  test('shows each outcome as announced, without colour, ends with 0 and leaves nothing behind', async () => {
    using place = temporary()
    const child = start([], place.folder)
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    expect(stderr).toBe('')
    const got = [...stdout.matchAll(/^ +got +(\d+) (.*)$/gm)].map(([, status, body]) => `${status} ${body}`)
    expect(got).toEqual([
      expect.stringMatching(/^200 file:/),
      expect.stringMatching(/^200 file:/),
      '403 policy denied: keep-id-column: orders are joined by id: keep the column',
      '403 policy denied: writers-only: ask the owner of sales.orders for the role orders-writer',
      '403 policy denied: keep-seven-days: readers may be a week behind: expire older snapshots only',
      '503 policy-engine-unavailable',
      expect.stringMatching(/^409 .*CommitFailedException/),
      expect.stringMatching(/^200 file:/),
      expect.stringMatching(/^404 .*archive/),
    ])
    const audited = [...stdout.matchAll(/^ +audit +(\w+ \w+)/gm)].map(([, text = '']) => text.split(/ /)[0])
    expect(audited).toEqual([
      'APPROVED',
      'APPROVED',
      'REJECTED',
      'REJECTED',
      'REJECTED',
      'no',
      'no',
      'APPROVED',
      'no',
    ])
    expect(stdout).toContain('commit_rejected_total{reason="policy_engine_unavailable"} +1')
    expect(stdout).toContain('12 steps, all as announced.')
    expect(shownByReadme.length).toBeGreaterThan(5)
    let from = 0
    for (const line of shownByReadme) {
      expect(stdout.slice(from)).toContain(line)
      from = stdout.indexOf(line, from) + line.length
    }
    for (const { printed } of readSteps) expect(stdout).toContain(`\n\n${printed}`)
    expect(stdout).not.toContain('\u001b')
    expect(await child.exited).toBe(0)
    expect(left(place.folder)).toEqual([])
  })

  test('with --keep, and without psql, stays up, prints a commit and queries that work, and stops cleanly on SIGTERM', async () => {
    using place = temporary()
    const child = start(['--keep'], place.folder, { PATH: place.folder })
    let text = ''
    const decoder = new TextDecoder()
    const reader = child.stdout.getReader()
    while (!text.includes('Stop with Ctrl-C')) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`the demo ended early: ${text}`)
      text += decoder.decode(value, { stream: true })
    }
    const [, url = ''] = /^curl -i (\S+)/m.exec(text) ?? []
    const headers = [...text.matchAll(/-H '([^:]+): ([^']*)'/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    )
    const [, body = ''] = /-d '(.*)'/.exec(text) ?? []
    const response = await fetch(url, { method: 'POST', headers, body })
    expect(response.status).toBe(200)

    expect(text).toContain('12 steps, all as announced.')
    const queries = queriesIn(text.slice(text.indexOf('Still running')))
    expect(queries.map(({ statement }) => statement)).toEqual(readSteps.map(({ statement }) => statement))
    for (const [index, { reader, statement }] of queries.entries())
      for (const run of [runPsql, runQuery])
        expect(await run(reader, statement)).toBe(readSteps[index]?.printed ?? '')
    const [{ reader: ann }] = queries as [(typeof queries)[number]]
    expect(await runQuery(ann, 'SELECT nothing FROM sales.orders')).toStartWith('ERROR:  ')
    const [, log = ''] = /The log is in (\S+)\. Stop/.exec(text) ?? []
    expect(existsSync(log)).toBe(true)

    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    expect(left(place.folder)).toEqual([])
  })

  test('explains itself, and refuses what it does not know', async () => {
    using place = temporary()
    const help = start(['--help'], place.folder)
    expect(await new Response(help.stdout).text()).toContain('--keep')
    expect(await help.exited).toBe(0)
    const wrong = start(['--kep'], place.folder)
    expect(await new Response(wrong.stderr).text()).toContain('--kep')
    expect(await wrong.exited).toBe(64)
  })

  test('ends with 1 where it cannot do what it announced', async () => {
    using place = temporary()
    const child = start([], join(place.folder, 'not', 'there'))
    expect(await child.exited).toBe(1)
  })
})

describe('the check of a step', () => {
  const commitId = crypto.randomUUID()
  const location = 'file:///x/00001.metadata.json'
  const row: Observation['audit'][number] = {
    commitId,
    action: 'update-table',
    committer: 'spark',
    decision: 'APPROVED',
    reason: '',
    createdAt: new Date(),
    tenant: newTenantId(),
    principalSource: 'auth_header',
    table: { namespace: ['sales'], name: 'orders' },
    baseMetadataLocation: '',
    metadataLocation: location,
    requestId: undefined,
  }
  const approval: Expectation = {
    status: 200,
    body: { table: true },
    audit: { decision: 'APPROVED', reason: '', committer: 'spark' },
    forwarded: 1,
  }
  const approved: Observation = {
    status: 200,
    body: JSON.stringify({ 'metadata-location': location, metadata: {} }),
    decisionId: commitId,
    audit: [row],
    foreignAudit: 0,
    rejected: { policy_denied: 0 },
    forwarded: 1,
  }
  const refusal: Expectation = {
    status: 503,
    body: { text: 'policy-engine-unavailable' },
    audit: undefined,
    rejected: { policy_engine_unavailable: 1 },
    forwarded: 0,
  }
  const refused: Observation = {
    ...approved,
    status: 503,
    body: 'policy-engine-unavailable',
    audit: [],
    rejected: { policy_denied: 0, policy_engine_unavailable: 1 },
    forwarded: 0,
  }

  test('finds nothing where everything is as announced', () => {
    expect(checkStep(approval, approved)).toEqual([])
    expect(checkStep(refusal, refused)).toEqual([])
  })

  const differences: [what: string, change: Partial<Observation>, sentence: string][] = [
    ['status', { status: 201 }, 'the status should be 200 and is 201'],
    ['body', { body: '{}' }, 'the body is no LoadTableResult'],
    ['body that is no JSON', { body: '<html>' }, 'the body is no LoadTableResult'],
    ['missing audit row', { audit: [] }, 'the audit row should be'],
    ['second audit row', { audit: [row, row] }, 'the audit log gained 2 rows'],
    ['committer', { audit: [{ ...row, committer: 'someone' }] }, 'the audit row should be'],
    ['decision id', { decisionId: undefined }, 'the decision id'],
    ['metadata location', { audit: [{ ...row, metadataLocation: 'elsewhere' }] }, 'the metadata location'],
    ['row of the other tenant', { foreignAudit: 1 }, 'the rows that the other tenant gained'],
    ['metric', { rejected: { policy_denied: 1 } }, 'reason="policy_denied"'],
    ['commit to the catalog', { forwarded: 2 }, 'the number of commits that reached the catalog'],
  ]
  test.each(differences)('finds a different %s', (_what, change, sentence) => {
    expect(checkStep(approval, { ...approved, ...change }).join('\n')).toContain(sentence)
  })

  test('finds a refusal that was audited, forwarded, not counted, or worded differently', () => {
    expect(checkStep(refusal, { ...refused, audit: [row] })).not.toEqual([])
    expect(checkStep(refusal, { ...refused, forwarded: 1 })).not.toEqual([])
    expect(checkStep(refusal, { ...refused, rejected: {} })).not.toEqual([])
    expect(checkStep(refusal, { ...refused, body: 'unavailable' })).not.toEqual([])
  })

  test('finds an error of another type', () => {
    const expected = { ...refusal, body: { errorType: 'CommitFailedException' } }
    const body = JSON.stringify({ error: { type: 'NoSuchTableException' } })
    expect(checkStep(expected, { ...refused, body }).join()).toContain('the error type')
  })
})

describe('the check of a query', () => {
  const [step] = readSteps as [(typeof readSteps)[number]]
  const seen: ReadObservation = { printed: step.printed, usage: [step.usage] }

  test('finds nothing where everything is as announced', () => {
    expect(checkReadStep(step, seen)).toEqual([])
  })

  test.each<[what: string, change: Partial<ReadObservation>, sentence: string]>([
    ['answer', { printed: 'ERROR:  no\n' }, 'the answer should be'],
    ['missing usage record', { usage: [] }, 'the usage records should be'],
    ['second usage record', { usage: [step.usage, step.usage] }, 'the usage records should be'],
    ['set of policies', { usage: [{ ...step.usage, policies: ['x'] }] }, 'the usage records should be'],
  ])('finds a different %s', (_what, change, sentence) => {
    expect(checkReadStep(step, { ...seen, ...change }).join('\n')).toContain(sentence)
  })
})

test('a table is aligned as psql aligns it, NULL left out', () => {
  const columns = [
    { name: 'n', right: true },
    { name: 'a long name', right: false },
    { name: 'c', right: false },
  ]
  expect(
    psqlTable(columns, [
      ['1', 'x', null],
      ['-20', null, 'yyyy'],
    ]),
  ).toBe(
    [
      '  n  | a long name |  c   ',
      '-----+-------------+------',
      '   1 | x           | ',
      ' -20 |             | yyyy',
      '(2 rows)',
      '',
      '',
    ].join('\n'),
  )
  expect(psqlTable([{ name: 'n', right: true }], [['1']])).toEndWith('(1 row)\n\n')
})
