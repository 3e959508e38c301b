/** Values of every type as Trino writes them, and the values that are refused. */

import { expect, test } from 'bun:test'
import type { JsonValue } from '../../../src/base/json.ts'
import type { TextScale } from '../../../src/core/quotient-scale.ts'
import type { SqlType } from '../../../src/core/sql-type.ts'
import { vectorBuilder } from '../../../src/engine/trino/vectors.ts'
import { cellText } from '../../support/vector-text.ts'

function read(
  type: SqlType,
  trinoType: string,
  cells: readonly JsonValue[],
  size?: readonly [number, number],
  textScale?: TextScale,
) {
  const vector = vectorBuilder({ name: 'c', type, size, textScale }, trinoType)?.(cells)
  if (vector === undefined) throw new Error(`${trinoType} is not taken for ${type}`)
  return cells.map((_, row) => cellText(vector, row))
}

const cases: readonly (readonly [SqlType, string, readonly JsonValue[], readonly (string | null)[]])[] = [
  ['bool', 'boolean', [true, null, false], ['t', null, 'f']],
  ['int2', 'smallint', [-32768n, 32767n], ['-32768', '32767']],
  ['int4', 'integer', [-(2n ** 31n), null, 2n ** 31n - 1n], ['-2147483648', null, '2147483647']],
  ['int8', 'bigint', [2n ** 63n - 1n], ['9223372036854775807']],
  ['float4', 'real', [1.5, 0.1, 'NaN', '-Infinity'], ['1.5', '0.1', 'NaN', '-Infinity']],
  ['float8', 'double', [0.1, 1e300, 'Infinity', 3n], ['0.1', '1e+300', 'Infinity', '3']],
  ['numeric', 'decimal(12, 2)', ['12.50', null, '-0.01'], ['12.50', null, '-0.01']],
  [
    'numeric',
    'decimal(38, 0)',
    ['99999999999999999999999999999999999999'],
    ['99999999999999999999999999999999999999'],
  ],
  ['numeric', 'bigint', [5n], ['5']],
  [
    'numeric',
    'double',
    [0.1 + 0.2, 1 / 3, null, 1e20, -2.5],
    ['0.3', '0.333333333333333', null, '100000000000000000000', '-2.5'],
  ],
  ['text', 'varchar(3)', ['a', '', null], ['a', '', null]],
  ['varchar', 'varchar', ['ä'], ['ä']],
  [
    'date',
    'date',
    ['1970-01-01', '1969-12-31', '2024-02-29', '0001-01-01', '+12024-01-01'],
    ['1970-01-01', '1969-12-31', '2024-02-29', '0001-01-01', '+012024-01'],
  ],
  ['time', 'time(6)', ['23:59:59.999999', '00:00:00'], ['23:59:59.999999', '00:00:00']],
  [
    'timestamp',
    'timestamp(6)',
    ['2024-01-15 10:20:30.500000', '1969-12-31 23:59:59.999999'],
    ['2024-01-15 10:20:30.5', '1969-12-31 23:59:59.999999'],
  ],
  [
    'timestamptz',
    'timestamp(6) with time zone',
    ['2024-01-16 08:00:00.000000 UTC', '2024-01-16 08:00:00 +05:30'],
    ['2024-01-16 08:00:00+00', '2024-01-16 02:30:00+00'],
  ],
  [
    'interval',
    'INTERVAL DAY TO SECOND',
    ['1 02:03:04.567', '-0 00:00:01.500'],
    ['0 mon 1 day 02:03:04.567', '0 mon 0 day -00:00:01.5'],
  ],
  [
    'interval',
    'INTERVAL YEAR TO MONTH',
    ['1-2', '-1-2'],
    ['14 mon 0 day 00:00:00', '-14 mon 0 day 00:00:00'],
  ],
  ['uuid', 'uuid', ['00000000-0000-0000-0000-0000000000ff'], ['00000000-0000-0000-0000-0000000000ff']],
  ['bytea', 'varbinary', ['AP8=', ''], ['\\x00ff', '\\x']],
  ['jsonb', 'json', ['{"a":1}', null], ['{"a":1}', null]],
  ['text[]', 'array(varchar(2))', [['a', null], [], null], ['{a,NULL}', '{}', null]],
  ['numeric[]', 'array(decimal(3, 1))', [['1.5', '-0.1']], ['{1.5,-0.1}']],
  ['int4', 'unknown', [null], [null]],
  ['text[]', 'unknown', [null], [null]],
  ['text[]', 'array(unknown)', [[null]], ['{NULL}']],
]

test.each(cases)('%s from %s', (type, trinoType, cells, expected) => {
  expect(read(type, trinoType, cells)).toEqual([...expected])
})

test('a numeric has at least the scale that it was declared with', () => {
  expect(read('numeric', 'decimal(5, 1)', ['1.5'], [12, 3])).toEqual(['1.500'])
})

test('a double that stands for a quotient, or for a rounded one, has the digits of PostgreSQL', () => {
  const cells = [10, 1 / 3, null, 0]
  const quotients = ['10.0000000000000000', '0.33333333333333300000', null, '0.00000000000000000000']
  expect(read('numeric', 'double', cells, undefined, { operands: 2 })).toEqual(quotients)
  expect(read('numeric', 'double', [10, 0.33], undefined, 2)).toEqual(['10.00', '0.33'])
})

const mismatches: readonly (readonly [SqlType, string])[] = [
  ['int4', 'bigint'],
  ['int8', 'double'],
  ['float4', 'double'],
  ['float8', 'real'],
  ['text', 'char(3)'],
  ['text', 'json'],
  ['date', 'timestamp(6)'],
  ['timestamp', 'timestamp(9)'],
  ['timestamp', 'timestamp'],
  ['timestamp', 'timestamp(6) with time zone'],
  ['timestamptz', 'timestamp(6)'],
  ['text[]', 'varchar'],
  ['text[]', 'array(integer)'],
  ['text', 'row(a integer)'],
  ['text', 'map(varchar, varchar)'],
]

test.each(mismatches)('%s is never read from %s', (type, trinoType) => {
  expect(vectorBuilder({ name: 'c', type }, trinoType)).toBeUndefined()
})

const wrong: readonly (readonly [SqlType, string, JsonValue])[] = [
  ['bool', 'boolean', 'true'],
  ['int2', 'smallint', 32768n],
  ['int4', 'integer', 2n ** 31n],
  ['int8', 'bigint', 1.5],
  ['float8', 'double', 'nan'],
  ['float8', 'double', ''],
  ['numeric', 'decimal(3, 1)', '1.25'],
  ['numeric', 'decimal(3, 1)', '1e5'],
  ['numeric', 'double', 'NaN'],
  ['text', 'varchar', 1n],
  ['date', 'date', '2023-02-30'],
  ['date', 'date', '2023-13-01'],
  ['date', 'date', '+5883517-01-01'],
  ['time', 'time(6)', '24:00:00'],
  ['time', 'time(6)', '10:00:00.1234567'],
  ['timestamp', 'timestamp(6)', '2024-01-01'],
  ['timestamptz', 'timestamp(6) with time zone', '2024-10-27 02:30:00 Europe/Berlin'],
  ['interval', 'interval day to second', '1 day'],
  ['uuid', 'uuid', '00000000-0000-0000-0000-0000000000FF'],
  ['bytea', 'varbinary', 'AP8'],
  ['bytea', 'varbinary', '_w=='],
  ['text[]', 'array(varchar)', 'a'],
  ['int4', 'unknown', 1n],
]

test.each(
  wrong.map(
    ([type, trinoType, cell]) => [`${type} from ${trinoType} is not ${cell}`, type, trinoType, cell] as const,
  ),
)('%s', (_, type, trinoType, cell) => {
  let code = ''
  try {
    read(type, trinoType, [cell])
  } catch (error) {
    code = String(Reflect.get(error as object, 'code'))
  }
  expect(['08006', '22003', '22008']).toContain(code)
})
