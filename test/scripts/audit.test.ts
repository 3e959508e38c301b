/** `bun run audit` against a registry of the test's own. */

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acceptedIn, advisoriesIn, expired, judge } from '../../scripts/release/advisories.ts'

// Each test starts processes.
setDefaultTimeout(60_000)

const root = new URL('../../', import.meta.url).pathname
const advisory = (severity: string, id: string) => ({
  id: 1001,
  url: `https://example.com/advisories/${id}`,
  title: 'Reads past the end',
  severity,
  vulnerable_versions: '<99',
  cwe: [],
  cvss: { score: 7, vectorString: '' },
})
const high = 'GHSA-aaaa-bbbb-cccc'
const accept = (until: string, id = high, name = 'yaml') => [
  { id, package: name, reason: 'The parser reads no text of strangers.', until },
]

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'covenant-audit-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

interface Asked {
  readonly answer?: () => Response
  readonly accepted?: unknown
  readonly words?: readonly string[]
}

async function audit({ answer = () => Response.json({}), accepted = [], words = [] }: Asked) {
  const asked: Record<string, string[]>[] = []
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      asked.push(JSON.parse(new TextDecoder().decode(Bun.gunzipSync(await request.arrayBuffer()))))
      return answer()
    },
  })
  writeFileSync(join(folder, 'accepted.json'), JSON.stringify(accepted))
  const command = [
    process.execPath,
    'scripts/audit.ts',
    '--accepted',
    join(folder, 'accepted.json'),
    ...words,
  ]
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, NPM_CONFIG_REGISTRY: server.url.href },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err, asked }
}

test('the registry is asked about what production has, and about nothing that only development needs', async () => {
  const { code, out, asked } = await audit({})
  expect({ code, out }).toEqual({ code: 0, out: ' 1 pass\n 0 fail\n' })
  expect(asked).toHaveLength(1)
  expect(asked[0]?.yaml).toEqual(['2.9.0'])
  expect(asked[0]).not.toHaveProperty('typescript')
})

test('an advisory of high severity fails, with its title and address', async () => {
  const { code, out } = await audit({ answer: () => Response.json({ yaml: [advisory('high', high)] }) })
  expect(code).toBe(1)
  expect(out).toBe(
    `FAILED yaml: high: Reads past the end (${high}, https://example.com/advisories/${high})\n 0 pass\n 1 fail\n`,
  )
})

test('an accepted advisory does not fail until its day is over', async () => {
  const answer = () => Response.json({ yaml: [advisory('critical', high)] })
  const kept = await audit({ answer, accepted: accept('9999-12-31') })
  expect({ code: kept.code, out: kept.out }).toEqual({
    code: 0,
    out: expect.stringContaining('accepted yaml: critical'),
  })
  const over = await audit({ answer, accepted: accept('2026-01-01') })
  expect(over.code).toBe(1)
  expect(over.out).toContain(`FAILED yaml: ${high} was accepted until 2026-01-01\n`)
  expect(over.out).toContain('FAILED yaml: critical')
})

test.each([
  ['refuses', () => new Response('', { status: 405 })],
  ['answers with a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
])(
  'a registry that %s is said to tell nothing, which fails only where nobody said to skip it',
  async (_, answer) => {
    const asked = await audit({ answer })
    expect(asked.code).toBe(69)
    expect(asked.out).toMatch(/^not done: advisories: the registry does not tell advisories/)
    const skipped = await audit({ answer, words: ['--skip-unreachable'] })
    expect(skipped.code).toBe(0)
    expect(skipped.out).toMatch(/^skipped: advisories: the registry does not tell advisories/)
  },
)

test('an acceptance that is over fails also where the registry does not tell', async () => {
  const answer = () => new Response('', { status: 503 })
  const words = ['--skip-unreachable']
  expect((await audit({ answer, accepted: accept('2026-01-01'), words })).code).toBe(1)
})

test('an answer of another form fails', async () => {
  const { code, err } = await audit({
    answer: () => Response.json({ yaml: 'none' }),
    words: ['--skip-unreachable'],
  })
  expect({ code, err }).toEqual({ code: 1, err: 'The answer about advisories is not of their form.\n' })
})

test('an answer is saved for a machine without network, for the same packages and for a week', async () => {
  const path = join(folder, 'saved.json')
  await audit({
    answer: () => Response.json({ yaml: [advisory('high', high)] }),
    words: ['--save', path],
  })
  const offline = await audit({ words: ['--from', path] })
  expect({ code: offline.code, asked: offline.asked }).toEqual({ code: 1, asked: [] })
  expect(offline.out).toContain('FAILED yaml: high')
  const text = JSON.parse(readFileSync(path, 'utf8'))
  for (const [changed, sentence] of [
    [{ lock: 'f'.repeat(64) }, 'was saved for another bun.lock.'],
    [{ at: '2026-01-01T00:00:00Z' }, 'was saved more than seven days ago.'],
    [{ at: 'yesterday' }, 'was saved more than seven days ago.'],
  ] as const) {
    writeFileSync(path, JSON.stringify({ ...text, ...changed }))
    const { code, err } = await audit({ words: ['--from', path] })
    expect({ code, err }).toEqual({ code: 1, err: `${path} ${sentence}\n` })
  }
})

test('a severity that nobody knows fails, and one below high does not', () => {
  const answer = {
    a: ['info', 'low', 'moderate', 'high', 'catastrophic'].map((word) => advisory(word, word)),
  }
  const { failing, minor } = judge(advisoriesIn(answer), [], '2026-06-01')
  expect(failing.map(({ severity }) => severity)).toEqual(['high', 'catastrophic'])
  expect(minor).toHaveLength(3)
})

test('an acceptance holds for its package alone, on its last day too, and is named where nobody reports it', () => {
  const answer = advisoriesIn({ yaml: [advisory('high', high)], other: [advisory('high', high)] })
  const { failing, accepted, unused } = judge(
    answer,
    [...accept('2026-06-01'), ...accept('2026-06-01', 'GHSA-none-none-none')],
    '2026-06-01',
  )
  expect(failing.map((one) => one.package)).toEqual(['other'])
  expect(accepted.map((one) => one.package)).toEqual(['yaml'])
  expect(unused.map(({ id }) => id)).toEqual(['GHSA-none-none-none'])
  expect(expired(accept('2026-06-01'), '2026-06-02')).toHaveLength(1)
})

test('an acceptance without reason or day is refused', () => {
  const [whole] = accept('2026-06-01')
  expect(() => acceptedIn([whole])).not.toThrow()
  for (const wrong of [
    { reason: undefined },
    { reason: 'ok' },
    { until: 'never' },
    { until: '2026-13-40' },
    { more: 1 },
  ])
    expect(() => acceptedIn([{ ...whole, ...wrong }])).toThrow('Accepted advisories')
})

test('the list of this project is of its form', () => {
  const list = JSON.parse(readFileSync(join(root, 'scripts/release/accepted-advisories.json'), 'utf8'))
  expect(() => acceptedIn(list)).not.toThrow()
})
