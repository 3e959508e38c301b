/** Defines numeric functions. PostgreSQL's domain errors stay errors where an engine would return NaN or NULL. */

import { type FunctionDef, fn, strictly, type Template } from '../base/function-definition.ts'
import { checked, remainder, wholeQuotient } from './decimal-arithmetic.ts'

const may = { fallible: true }

const abs = (['int2', 'int4', 'int8', 'numeric', 'float4', 'float8'] as const).map((type) =>
  fn('abs', type, type, 'abs({0})', 'abs({0})', may),
)

const mod = (['int2', 'int4', 'int8', 'numeric'] as const).map((type) =>
  fn(
    'mod',
    `${type} ${type}`,
    type,
    type === 'numeric' ? remainder : checked((left, right) => `(${left} % ${right})`),
    '({0} % {1})',
    may,
  ),
)

/** A function from float8 to float8. @param domain condition under which PostgreSQL refuses the argument */
const unary = (
  name: string,
  duckdb = name,
  trino = duckdb,
  domain?: string,
  fault = 'input is out of range',
): FunctionDef =>
  fn(
    name,
    'float8',
    'float8',
    domain
      ? `${duckdb}(CASE WHEN ${domain}${domain.startsWith('abs') ? ' AND NOT isnan({0})' : ''} THEN error('${fault}') ELSE {0} END)`
      : `${duckdb}({0})`,
    domain
      ? `${trino}(CASE WHEN ${domain} THEN CAST(fail('${fault}') AS DOUBLE) ELSE {0} END)`
      : `${trino}({0})`,
    { fallible: domain !== undefined },
  )

/** As unary, with an overload that returns numeric. Engines compute it as a double (docs/sql.md). */
const numeric = (
  name: string,
  duckdb: string,
  trino: string,
  domain?: string,
  fault?: string,
): FunctionDef[] => {
  const float = unary(name, duckdb, trino, domain, fault)
  return [float, { ...float, id: `${float.id}n`, args: ['numeric'], returns: 'numeric' }]
}

const noLogarithm = 'cannot take logarithm of zero or of a negative number'

/** The logarithm of the second number to the base of the first. */
const logarithm = (fault: string, zero: string): string =>
  `(CASE WHEN {0} <= 0 OR {1} <= 0 THEN ${fault} ELSE ln({1}) END / CASE WHEN {0} = 1 THEN ${zero} ELSE ln({0}) END)`

const powerOf = (fault: string): string =>
  `pow(CASE WHEN ({0} = 0 AND {1} < 0) OR ({0} < 0 AND {1} <> floor({1})) THEN ${fault} ELSE {0} END, {1})`
/** Refuses zero to a negative power, and a negative number to a fraction. */
export const power = {
  duckdb: powerOf("error('invalid argument for power function')"),
  trino: powerOf("CAST(fail('invalid argument for power function') AS DOUBLE)"),
} as const

/** Rounds to the 15 digits that every double has, so that equal powers of numerics form one group. */
const toDoubleDigits = (value: string): string =>
  `CASE WHEN isfinite(${value}) AND ${value} <> 0 THEN round(${value}, 14 - CAST(floor(log10(abs(${value}))) AS INTEGER)) ELSE ${value} END`
export const numericPower = { duckdb: toDoubleDigits(power.duckdb), trino: power.trino } as const

const buckets = (from: string, value: string, to: string): string =>
  `CASE WHEN ${value} < ${from} THEN 0 WHEN ${value} >= ${to} THEN {3} + 1 ELSE least(CAST(floor((${value} - ${from}) / (${to} - ${from}) * {3}) AS INTEGER), {3} - 1) + 1 END`

/** width_bucket, with bounds in either order. */
const bucketOf = (fault: string, nan: string, finite: string): string =>
  `CASE WHEN {0} IS NULL OR {1} IS NULL OR {2} IS NULL OR {3} IS NULL THEN NULL WHEN {3} < 1 OR {1} = {2} OR ${nan}({0}) OR NOT ${finite}({1}) OR NOT ${finite}({2}) THEN ${fault} WHEN {1} < {2} THEN ${buckets('{1}', '{0}', '{2}')} ELSE ${buckets('(-{1})', '(-{0})', '(-{2})')} END`

/**
 * `round` and `trunc` to digits. A double that stands for a numeric is cut as the decimal of its 15 digits: as a double,
 * 0.145 is less than half a hundredth.
 */
const cutOnDuckdb =
  (name: 'round' | 'trunc'): Template =>
  ([value, digits = ''], { isDouble, literals }) => {
    const places = Number(literals[1])
    if (!isDouble() || !(places >= 0 && places <= 18)) return `${name}(${value}, ${digits})`
    const exact = `CAST(${name}(CAST(printf('%.14e', ${value}) AS DECIMAL(38,18)), ${places}) AS DOUBLE)`
    return `CASE WHEN abs(${value}) < 1e18 THEN ${exact} ELSE ${value} END`
  }

export const mathFunctions: readonly FunctionDef[] = [
  ...abs,
  ...mod,
  fn('ceil', 'float8', 'float8', 'ceil({0})'),
  fn('ceil', 'numeric', 'numeric', 'ceil({0})'),
  fn('ceiling', 'float8', 'float8', 'ceil({0})'),
  fn('ceiling', 'numeric', 'numeric', 'ceil({0})'),
  fn('floor', 'float8', 'float8', 'floor({0})'),
  fn('floor', 'numeric', 'numeric', 'floor({0})'),
  // Floats round half to even, numerics half away from zero.
  fn(
    'round',
    'float8',
    'float8',
    'round_even({0}, 0)',
    'CASE WHEN abs({0} - truncate({0})) = 5e-1 THEN 2e0 * round({0} / 2e0) ELSE round({0}) END',
  ),
  fn('round', 'numeric', 'numeric', 'round({0})'),
  fn('round', 'numeric int4', 'numeric', cutOnDuckdb('round'), 'round({0}, {1})', { literal: [1] }),
  fn('trunc', 'float8', 'float8', 'trunc({0})', 'truncate({0})'),
  fn('trunc', 'numeric', 'numeric', 'trunc({0})', 'truncate({0})'),
  fn('trunc', 'numeric int4', 'numeric', cutOnDuckdb('trunc'), 'truncate({0}, {1})', { literal: [1] }),
  fn('sign', 'float8', 'float8', 'CAST(sign({0}) AS DOUBLE)', 'sign({0})'),
  fn('sign', 'numeric', 'numeric', 'CAST(sign({0}) AS DECIMAL(1,0))', 'CAST(sign({0}) AS DECIMAL(1,0))'),
  ...numeric('sqrt', 'sqrt', 'sqrt', '{0} < 0', 'cannot take square root of a negative number'),
  ...numeric('exp', 'exp', 'exp'),
  ...numeric('ln', 'ln', 'ln', '{0} <= 0', noLogarithm),
  ...numeric('log', 'log10', 'log10', '{0} <= 0', noLogarithm),
  ...numeric('log10', 'log10', 'log10', '{0} <= 0', noLogarithm),
  fn(
    'log',
    'numeric numeric',
    'numeric',
    strictly(logarithm(`error('${noLogarithm}')`, "error('division by zero')")),
    logarithm(`CAST(fail('${noLogarithm}') AS DOUBLE)`, "CAST(fail('division by zero') AS DOUBLE)"),
    may,
  ),
  fn('power', 'float8 float8', 'float8', power.duckdb, power.trino, may),
  fn('power', 'numeric numeric', 'numeric', numericPower.duckdb, numericPower.trino, may),
  fn('pow', 'float8 float8', 'float8', power.duckdb, power.trino, may),
  fn('pow', 'numeric numeric', 'numeric', numericPower.duckdb, numericPower.trino, may),
  unary('cbrt'),
  unary('degrees'),
  unary('radians'),
  { ...unary('sin'), ...may },
  { ...unary('cos'), ...may },
  { ...unary('tan'), ...may },
  {
    ...unary('cot', 'cot', '1 / tan'),
    ...may,
    duckdb: `CASE WHEN {0} = 0 THEN 1 / {0} ELSE cot({0}) END`,
  },
  unary('asin', 'asin', 'asin', 'abs({0}) > 1'),
  unary('acos', 'acos', 'acos', 'abs({0}) > 1'),
  unary('atan'),
  unary('sinh'),
  unary('cosh'),
  unary('tanh'),
  fn('atan2', 'float8 float8', 'float8', 'atan2({0}, {1})'),
  fn('pi', '', 'float8', 'pi()'),
  fn('random', '', 'float8', 'random()'),
  fn('div', 'numeric numeric', 'numeric', wholeQuotient('duckdb'), wholeQuotient('trino'), may),
  fn('gcd', 'int4 int4', 'int4', 'CAST(gcd({0}, {1}) AS INTEGER)', null, may),
  fn('gcd', 'int8 int8', 'int8', 'CAST(gcd({0}, {1}) AS BIGINT)', null, may),
  fn('lcm', 'int4 int4', 'int4', 'CAST(lcm({0}, {1}) AS INTEGER)', null, may),
  fn('lcm', 'int8 int8', 'int8', 'CAST(lcm({0}, {1}) AS BIGINT)', null, may),
  fn('factorial', 'int8', 'numeric', 'CAST(factorial(CAST({0} AS INTEGER)) AS DECIMAL(38,0))', null, may),
  fn(
    'width_bucket',
    'float8 float8 float8 int4',
    'int4',
    bucketOf("error('invalid bounds or count of width_bucket')", 'isnan', 'isfinite'),
    bucketOf("CAST(fail('invalid bounds or count of width_bucket') AS INTEGER)", 'is_nan', 'is_finite'),
    may,
  ),
]
