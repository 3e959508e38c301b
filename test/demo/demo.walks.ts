/** The whole demo, as the README shows it: once to its end, and once kept up with its queries typed by hand. */

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type DemoReader, runPsql } from '../../demo/psql.ts'
import { readSteps } from '../../demo/read-steps.ts'
import { startDemo, temporary } from './demo-process.ts'

const queryProgram = fileURLToPath(new URL('../../demo/query.ts', import.meta.url))

/** By what stands in for psql. */
async function runQuery(
  { sub, secret, host, port, database }: DemoReader,
  statement: string,
): Promise<string> {
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
    const child = startDemo([], place.folder)
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
      expect.stringMatching(/^403 policy denied: contract orders 1\.0\.0: the column amount is dropped/),
      expect.stringMatching(/^200 file:/),
      '403 policy denied: protected-writes: write with the plan of the table (docs/transform.md)',
      expect.stringMatching(/^200 file:/),
    ])
    const inFile = stdout.slice(stdout.indexOf('in file')).split('\n').slice(0, 2)
    for (const line of inFile) expect(line).toMatch(/"email":"tok_[a-z2-7]{26}","note":"cse1\.k1\.[\w-]+"\}$/)
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
      'REJECTED',
      'APPROVED',
      'REJECTED',
      'APPROVED',
    ])
    expect(stdout).toContain('commit_rejected_total{reason="policy_engine_unavailable"} +1')
    expect(stdout).toContain('16 steps, all as announced.')
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
    const child = startDemo(['--keep'], place.folder, { PATH: place.folder })
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

    expect(text).toContain('16 steps, all as announced.')
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
})
