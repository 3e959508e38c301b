/** What the demo says of itself, and the checks of its steps. demo.walks.ts runs the whole demo. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { checkStep, type Expectation, type Observation } from '../../demo/check-step.ts'
import { duckdbParquet } from '../../demo/lake/duckdb-parquet.ts'
import { checkFile } from '../../demo/protect-steps.ts'
import { psqlTable } from '../../demo/psql-table.ts'
import { readSteps } from '../../demo/read-steps.ts'
import { checkReadStep, type ReadObservation } from '../../demo/run-read-step.ts'
import { newTenantId } from '../../src/core/tenant.ts'
import { startDemo, temporary } from './demo-process.ts'

setDefaultTimeout(300_000)

describe('the demo', () => {
  test('explains itself, and refuses what it does not know', async () => {
    using place = temporary()
    const help = startDemo(['--help'], place.folder)
    expect(await new Response(help.stdout).text()).toContain('--keep')
    expect(await help.exited).toBe(0)
    const wrong = startDemo(['--kep'], place.folder)
    expect(await new Response(wrong.stderr).text()).toContain('--kep')
    expect(await wrong.exited).toBe(64)
  })

  test('ends with 1 where it cannot do what it announced', async () => {
    using place = temporary()
    const child = startDemo([], join(place.folder, 'not', 'there'))
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
    tenantId: newTenantId(),
    principalSource: 'auth_header',
    table: { namespace: ['sales'], name: 'orders' },
    baseMetadataLocation: '',
    baseHeld: undefined,
    metadataLocation: location,
    session: undefined,
    client: undefined,
    applicationId: undefined,
    branch: undefined,
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

test('the check of a file finds values in clear, and rows that are no tokens', async () => {
  using place = temporary()
  const file = join(place.folder, 'file.parquet')
  const select = `SELECT 1::BIGINT AS id, 'ada@example.com' AS email, 'pays late' AS note`
  await Bun.write(file, await duckdbParquet(select))
  expect(await checkFile(file)).toEqual([
    'the file holds ada@example.com',
    'the file holds pays late',
    'the rows in the file should be tokens and ciphertexts',
  ])
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
