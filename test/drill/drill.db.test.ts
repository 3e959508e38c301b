/** The rehearsal of a restore in a small form: a point in time, nothing that was answered before it missing. */

import { expect, test } from 'bun:test'
import { drill } from '../../scripts/drill/drill.ts'
import { whyNoPackages } from '../../scripts/postgres-packages.ts'

const reason = process.env.SVC_TEST_DATABASE_URL === undefined ? 'it runs with test:db' : whyNoPackages()
const run = reason === undefined ? test : test.skip
if (reason !== undefined) console.log(`Skipped the drill: ${reason}`)

run(
  'a store that is restored to a point in time has every commit that was answered before it, and the comparison names the tables that went on',
  async () => {
    const report = await drill(200)
    console.log(
      `drill: ${report.commits} commits, recovered in ${report.recoverySeconds} s: ${JSON.stringify(report.seconds)}`,
    )
    expect(report.missing).toEqual([])
    expect(report.answeredBefore).toBeGreaterThanOrEqual(180)
    expect(report.answeredBefore + report.answeredAfter).toBe(200)
    // A commit whose answer was on its way at the point in time may be there as well: one for each writer.
    expect(report.found.after).toBeLessThanOrEqual(8)
    const { status, lines } = report.compared
    expect(status).toBe(1)
    expect(lines.filter((line) => line.startsWith('ahead ')).length).toBeGreaterThan(0)
    const summary = lines.at(-1) ?? ''
    expect(summary).toMatch(
      /^\d same, \d ahead, 0 behind, 0 absent, 0 unreadable; \d intents without a decision$/,
    )
    const unaudited = lines.flatMap((line) => /(\d+) unaudited$/.exec(line)?.[1] ?? [])
    const sum = unaudited.reduce((total, one) => total + Number(one), 0)
    expect(sum).toBe(200 - report.found.before - report.found.after)
  },
  300_000,
)
