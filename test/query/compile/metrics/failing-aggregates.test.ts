/**
 * An aggregate that fails tells of a value, as hidden groups hold it. So no aggregate of an attested metric fails for the
 * values of a group that does not show, whatever they are; and what shows is what the aggregate gives.
 */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { attestable } from '../../../../src/semantics/attest-metric.ts'
import { someInShortForm } from '../../../support/long-form.ts'
import { attested, columnsPaidIn, openStaff, type Payment, paidAs, staffModel, staffTables } from './staff.ts'

setDefaultTimeout(60_000)

const plain = { city: 'u', site: 1, kind: 'wage', paid: '2026-01-05' }
const payments = (teams: Readonly<Record<string, readonly (string | null)[]>>): readonly Payment[] =>
  Object.entries(teams)
    .flatMap(([team, pays]) => pays.map((pay) => ({ team, pay })))
    .map((each, index) => ({ id: index + 1, person: index + 1, ...plain, ...each }))

const small = ['1', '2', '3']
const kinds = someInShortForm(
  [
    { type: 'double', huge: '1.7e308' },
    { type: 'int', huge: '2147483647' },
    { type: 'decimal(38,2)', huge: `${'9'.repeat(36)}.99` },
    { type: 'double', huge: 'Infinity' },
    { type: 'float', huge: '3.4e38' },
    { type: 'long', huge: '9223372036854775807' },
    { type: 'double', huge: 'NaN' },
  ] as const,
  2,
)
const model = (name: string) => paidAs(staffModel(attested()), `${name}(pay)`)
const byTeam = 'SELECT team, MEASURE(pays) FROM staff__metrics GROUP BY 1 ORDER BY 1'
const cuts = [
  'SELECT team, MEASURE(pays) FROM staff__metrics GROUP BY ROLLUP (1) ORDER BY 1',
  "SELECT MEASURE(pays) FROM staff__metrics WHERE team = 'b'",
  'SELECT team FROM staff__metrics GROUP BY 1 HAVING MEASURE(pays) IS NULL ORDER BY 1',
]
const cutAtRandom = 'SELECT team, MEASURE(pays) FROM staff__metrics WHERE random() < 0.5 GROUP BY 1'

describe.each(kinds)('$huge in a column of $type', ({ type, huge }) => {
  const tables = staffTables({ columns: columnsPaidIn(type) })
  const open = (teams: Parameters<typeof payments>[0]) =>
    openStaff(payments(teams), type === 'long' ? 'bigint' : type)

  test('is not told by an aggregate of a small group', async () => {
    await using beside = await open({ a: small, b: [huge, huge, null], c: small })
    await using without = await open({ a: small, b: ['1', '2', null], c: small })
    for (const name of attestable)
      for (const sql of cuts)
        expect(await beside.sql(sql, model(name), tables)).toEqual(
          await without.sql(sql, model(name), tables),
        )
  })

  test('makes no aggregate of a part of a large group fail', async () => {
    const below = huge === 'NaN' ? huge : `-${huge}`
    await using staff = await open({ a: small, b: [huge, huge, huge, below] })
    for (const name of attestable)
      for (const sql of [byTeam, cutAtRandom]) await staff.sql(sql, model(name), tables)
  })

  test('changes nothing of what groups without it show', async () => {
    await using staff = await open({ a: small, b: ['4', '5', '9'] })
    const plainTables = staffTables({ columns: columnsPaidIn(type).map((each) => ({ ...each, masks: [] })) })
    for (const name of attestable)
      expect(await staff.sql(byTeam, model(name), tables)).toEqual(
        await staff.sql(byTeam, { ...model(name), attestations: new Map() }, plainTables),
      )
  })
})
