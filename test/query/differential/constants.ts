/** Constants for random expressions: plain ones of each type, and valid values for special arguments. */

import { quoteText } from '../../../src/base/sql-text.ts'
import { elementOf, isArray, type SqlType } from '../../../src/core/sql-type.ts'
import type { FunctionDef } from '../../../src/query/compile/base/function-definition.ts'
import { spokenType } from '../../../src/query/compile/base/types.ts'
import type { Random } from '../fuzz.ts'

const values: Readonly<Partial<Record<SqlType, readonly string[]>>> = {
  bool: ['true', 'false'],
  int2: ['1::smallint', '7::smallint'],
  int4: ['1', '2', '3', '5', '10', '100'],
  int8: ['1::bigint', '2::bigint', '40::bigint', '3000000000'],
  numeric: ['1.5', '0.25', '12::numeric', '100.001'],
  float4: ['0.5::real', '2::real'],
  float8: ['0.5::float8', '2::float8', '1e6::float8'],
  text: ['a', 'b', '', 'SECRET', '\\', '%', '_', 'x', '1', 'anna', '^S.*$'].map(quoteText),
  varchar: [`'a'::varchar`, `'\\'::varchar`],
  date: [`date '2020-02-29'`, `date '2024-06-15'`],
  time: [`time '01:00:00'`, `time '12:34:56'`],
  timestamp: [`timestamp '2020-02-29 12:30:45'`, `timestamp '2024-01-01'`],
  timestamptz: [`timestamptz '2020-02-29 12:30:45+00'`, `timestamptz '2024-01-01 00:00:00+00'`],
  interval: [`interval '1 day'`, `interval '2 months'`, `interval '3 hours'`],
  uuid: [`uuid '00010203-0405-0607-0809-0a0b0c0d0e0f'`],
  bytea: [`'\\x6162'::bytea`],
  json: [`'{"a": 1}'::json`],
  jsonb: [`'{"a": 1}'::jsonb`, `'[1, 2]'::jsonb`],
}

/** A constant of a type, now and then NULL. */
export function constantOf(random: Random, type: SqlType): string {
  if (random.below(25) === 0) return `CAST(NULL AS ${spokenType(type)})`
  if (isArray(type)) return `ARRAY[${constantOf(random, elementOf(type))}]`
  return random.pick(values[type] ?? ['NULL'])
}

const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'decade']
const fields = [
  'year',
  'quarter',
  'month',
  'week',
  'day',
  'hour',
  'minute',
  'second',
  'milliseconds',
  'dow',
  'isodow',
  'doy',
  'isoyear',
  'decade',
  'century',
  'epoch',
  'epoch',
  'epoch',
  'julian',
]
const fieldsOf: Readonly<Partial<Record<SqlType, readonly string[]>>> = {
  date: fields.filter((name) => !['hour', 'minute', 'second', 'milliseconds'].includes(name)),
  time: ['hour', 'minute', 'second', 'milliseconds', 'epoch'],
  interval: ['year', 'month', 'day', 'hour', 'minute', 'second', 'epoch'],
}
const regexes = ['^S.*$', 'a', '[a-d]+', '(b|x)', '.', '^$', '\\d+', '[[:alpha:]]']

/** An argument that must be a literal. */
export function literalArgument(random: Random, def: FunctionDef, index: number, type: SqlType): string {
  const pick = (texts: readonly string[]) => quoteText(random.pick(texts))
  switch (def.name) {
    case 'date_trunc':
      return pick(units)
    case 'extract':
    case 'date_part':
      return pick(fieldsOf[def.args[1] as SqlType] ?? fields)
    case 'timezone':
      return pick(['UTC', 'Europe/Berlin', 'America/New_York'])
    case 'to_date':
    case 'to_timestamp':
      return pick(['YYYY', 'YYYY-MM-DD', 'YYYYMMDD HH24MISS'])
    case 'to_number':
      return pick(['9', '999.9', '9,999S'])
    case 'to_char':
      if (!['timestamp', 'timestamptz'].includes(String(def.args[0])))
        return pick(['999', 'FM9,990.00', 'S0.9', '99PR'])
      return pick(['YYYY-MM-DD', 'HH24:MI:SS', 'Month', 'IYYY-IW', 'Q', 'DDD'])
    case 'encode':
      return pick(['hex', 'base64'])
    case 'regexp_replace':
      return index === 1
        ? pick(regexes)
        : index === 2
          ? pick(['\\\\', '', 'x', '\\1'])
          : pick(['g', 'i', 'gi'])
    case '#>':
    case '#>>':
      return pick(['{a}', '{b,0}'])
    case '->':
    case '->>':
      return type === 'int4' ? String(random.below(3)) : pick(['a', 'b'])
    case 'round':
    case 'trunc':
      return String(random.below(4))
    default:
      return pick(regexes)
  }
}
