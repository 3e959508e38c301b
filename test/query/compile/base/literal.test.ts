import { describe, expect, test } from 'bun:test'
import type { SqlType } from '../../../../src/core/sql-type.ts'
import { literalSize, readLiteral } from '../../../../src/query/compile/base/literal.ts'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'

describe('a literal', () => {
  const read: readonly (readonly [SqlType, string, string])[] = [
    ['bool', ' yes ', 'true'],
    ['bool', 'F', 'false'],
    ['bool', 'off', 'false'],
    ['int2', '-32768', '-32768'],
    ['int4', ' +7 ', '7'],
    ['int8', '-9223372036854775808', '-9223372036854775808'],
    ['numeric', '1.50', '1.50'],
    ['numeric', '-0.0', '0.0'],
    ['numeric', '12e-3', '0.012'],
    ['numeric', '1.5E2', '150'],
    ['numeric', '.5', '0.5'],
    ['numeric', '007.', '7'],
    ['float8', '-inf', '-Infinity'],
    ['date', '2024-2-9', '2024-02-09'],
    ['date', '20240229', '2024-02-29'],
    ['date', '2024-01-02 23:00:00', '2024-01-02'],
    ['timestamp', '2024-01-02', '2024-01-02 00:00:00'],
    ['timestamp', '2024-01-02T03:04:05.120Z', '2024-01-02 03:04:05.12'],
    ['timestamp', '2024-01-02 03:04:05+05', '2024-01-02 03:04:05'],
    ['timestamptz', '2024-01-02 03:04:05+05:30', '2024-01-01 21:34:05'],
    ['timestamptz', '2024-12-31 23:30-01', '2025-01-01 00:30:00'],
    ['time', '1:02', '01:02:00'],
    ['interval', '1 year 2 mons -3 days 04:05:06.5', '14 -3 14706500000'],
    ['interval', '90 minutes', '0 0 5400000000'],
    ['interval', 'P1Y2DT3H', '12 2 10800000000'],
    ['interval', '1.5 months', '1 15 0'],
    ['interval', '-1 day', '0 -1 0'],
    ['interval', '2 hours ago', '0 0 -7200000000'],
    ['interval', '1 week', '0 7 0'],
    ['date', 'epoch', '1970-01-01'],
    ['timestamptz', 'Epoch', '1970-01-01 00:00:00'],
    ['uuid', '{A0EEBC99-9C0B4EF8-BB6D6BB9BD380A11}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['bytea', '\\xDEad', 'dead'],
    ['bytea', '\\x DE ad\n', 'dead'],
    ['bytea', '', ''],
    ['bytea', ' abc', '20616263'],
    ['bytea', 'ü\\000\\377\\\\001', 'c3bc00ff5c303031'],
    ['int4[]', '{1, 2,NULL}', '["1","2",null]'],
    ['text[]', '{"a,b","c\\"d",null,"NULL"}', '["a,b","c\\"d",null,"NULL"]'],
    ['text[]', '{}', '[]'],
  ]
  test.each(read)('of %s: %p', (type, text, expected) => {
    expect(readLiteral(text, type)).toBe(expected)
  })

  const refused: readonly (readonly [SqlType, string, string])[] = [
    ['bool', '', '22P02'],
    ['bool', '2', '22P02'],
    ['int2', '32768', '22003'],
    ['int4', '1.0', '22P02'],
    ['int4', '', '22P02'],
    ['int8', '9223372036854775808', '22003'],
    ['numeric', 'NaN', '22P02'],
    ['numeric', '1e9999', '22P02'],
    ['float8', '0x1', '22P02'],
    ['float8', '1e400', '22003'],
    ['float8', '1e-400', '22003'],
    ['float4', '1e39', '22003'],
    ['date', '2024-02-30', '22008'],
    ['date', '0000-01-01', '22008'],
    ['date', 'infinity', '0A000'],
    ['date', '01/02/2024', '22007'],
    ['timestamp', '2024-01-01 24:00:00', '22008'],
    ['timestamptz', '2024-01-01 00:00:00+99', '22008'],
    ['interval', '1 fortnight', '22007'],
    ['interval', 'day', '22007'],
    ['interval', '99999999999 years', '22008'],
    ['uuid', 'a0eebc99', '22P02'],
    ['bytea', '\\xabc', '22023'],
    ['bytea', '\\xd eda', '22023'],
    ['bytea', '\\x0g', '22023'],
    ['bytea', '\\400', '22P02'],
    ['bytea', 'a\\', '22P02'],
    ['json', '{a}', '22P02'],
    ['int4[]', '{1,{2}}', '22P02'],
    ['int4[]', '1,2', '22P02'],
    ['text[]', '{a,,b}', '22P02'],
  ]
  test.each(refused)('of %s is not %p', (type, text, state) => {
    try {
      readLiteral(text, type)
      throw new Error('read')
    } catch (error) {
      expect(error).toBeInstanceOf(SqlError)
      expect(Reflect.get(error as object, 'sqlState')).toBe(state)
      expect(String(Reflect.get(error as object, 'publicMessage'))).not.toContain('fortnight')
    }
  })

  test('of numeric knows its precision and scale, up to what engines hold', () => {
    expect(literalSize('0.012')).toEqual([3, 3])
    expect(literalSize('-150')).toEqual([3, 0])
    expect(literalSize('0')).toEqual([1, 0])
    expect(literalSize('9'.repeat(39))).toBeUndefined()
  })
})
