import { describe, expect, test } from 'bun:test'
import { DuckDBInstance } from '@duckdb/node-api'
import type { AttachedMask, GovernedTable } from '../../../../src/core/governed-table.ts'
import type { IcebergType } from '../../../../src/core/iceberg-type.ts'
import {
  applyMask,
  type MaskAction,
  type MaskValue,
  maskActions,
  maskFits,
} from '../../../../src/core/mask.ts'
import type { Principal } from '../../../../src/core/principal.ts'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { fingerprintStatement } from '../../../../src/query/compile/parse/fingerprint.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'

const ann: Principal = { sub: "an'n", roles: ['analyst'] }
const salt = new Uint8Array(16).fill(9)

interface Given {
  readonly masks?: readonly (readonly [column: string, action: string, expression?: string])[]
  readonly filters?: readonly string[]
}

function table({ masks = [], filters = [] }: Given = {}): GovernedTable {
  const column = (name: string, fieldId: number, type: IcebergType) => ({
    name,
    fieldId,
    type,
    required: name === 'id',
    masks: masks.flatMap(([on, action, expression], index): AttachedMask[] =>
      on === name
        ? [
            {
              policyId: `m${index}`,
              origin: { kind: 'tag', tag: 'pii' },
              action,
              ...(expression && { expression }),
            },
          ]
        : [],
    ),
  })
  return {
    ref: { namespace: ['s'], name: 't' },
    schemaName: 's',
    tableName: 't',
    relation: { duckdb: ['t'], trino: ['c', 's', 't'] },
    columns: [
      column('id', 1, 'int'),
      column('name', 2, 'string'),
      column('born', 3, 'date'),
      column('price', 4, 'decimal(9,2)'),
    ],
    rowFilters: filters.map((expression, index) => ({
      policyId: `f${index}`,
      origin: { kind: 'table' },
      expression,
    })),
    contract: { id: 'c', version: 3 },
  }
}

function compile(text: string, given: GovernedTable, principal = ann) {
  return compileQuery({ text, principal, tables: [given], searchPath: ['s'] })
}

function stateOf(run: () => unknown): string {
  try {
    run()
    return 'served'
  } catch (error) {
    if (error instanceof SqlError) return error.sqlState
    throw error
  }
}

async function rows(text: string, given: GovernedTable, principal = ann): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run('create table t (id int, name text, born date, price decimal(9,2))')
  await connection.run(
    `insert into t values (1, 'a', '2020-05-05', 1.5), (2, 'b', null, 2), (3, null, '2021-01-31', null)`,
  )
  const result = await connection.runAndReadAll(
    renderSql(compile(text, given, principal).emit('duckdb'), 'duckdb', { salt }),
  )
  const found = result.getRows().map((row) => row.map(String).join('|'))
  connection.closeSync()
  instance.closeSync()
  return found
}

describe('row filters', () => {
  test('all must hold, and NULL drops the row', async () => {
    expect(await rows('select id from t order by id', table({ filters: [`name <> 'x'`, 'id > 1'] }))).toEqual(
      ['2'],
    )
  })

  test('know the principal and its roles', async () => {
    const given = table({ filters: [`current_principal() = 'an''n' AND has_role('analyst')`] })
    expect(await rows('select count(*) from t', given)).toEqual(['3'])
    expect(await rows('select count(*) from t', given, { sub: 'eve', roles: ['analyst'] })).toEqual(['0'])
    expect(await rows('select count(*) from t', given, { sub: "an'n", roles: [] })).toEqual(['0'])
  })

  describe('a row that is dropped fails nothing', () => {
    const filters = [`id < 3 OR name <> 'hidden'`]
    const ask = async (price: string, text: string) => {
      const instance = await DuckDBInstance.create(':memory:')
      const connection = await instance.connect()
      await connection.run('create table t (id int, name text, born date, price decimal(9,2))')
      await connection.run(`insert into t values (1, 'a', '2020-05-05', 1.5), (3, 'hidden', null, ${price})`)
      const compiled = compile(text, table({ filters }))
      try {
        const result = await connection.runAndReadAll(renderSql(compiled.emit('duckdb'), 'duckdb', { salt }))
        return result.getRows().map((row) => row.map(String).join('|'))
      } catch {
        return 'an error'
      } finally {
        connection.closeSync()
        instance.closeSync()
      }
    }
    const fraction = `0.${'0'.repeat(33)}1`

    test.each([
      `SELECT id FROM t WHERE price > ${fraction}`,
      `SELECT id FROM t WHERE price IN (1.5, ${fraction})`,
      `SELECT id FROM t WHERE (price, id) > (${fraction}, 0)`,
      `SELECT id FROM t WHERE CASE price WHEN ${fraction} THEN false ELSE true END`,
      `SELECT id FROM t WHERE price IS DISTINCT FROM ${fraction}`,
      `SELECT price FROM t GROUP BY price HAVING price > ${fraction}`,
      `SELECT a.id FROM t a JOIN (VALUES (${fraction})) v(x) ON a.price <> v.x`,
    ])('whatever its decimals are: %s', async (text) => {
      expect(await ask('99999.5', text)).toEqual(await ask('1.5', text))
    })

    const trino = (text: string, given: GovernedTable) =>
      renderSql(compile(text, given).emit('trino'), 'trino', { salt })
    const blank = 'CASE WHEN ((_b."id"'

    test.each([
      `SELECT id FROM t GROUP BY id HAVING 1 / id > 0`,
      `SELECT id FROM t WHERE cot(id) > 0`,
      `SELECT id FROM t WHERE sin(price) > 0`,
      `SELECT id FROM t WHERE born > timestamp '2020-01-01'`,
      `SELECT id FROM t WHERE born - date '2020-01-01' > 3`,
      `SELECT id FROM t WHERE date_trunc('month', born) > '2020-01-01'`,
      `SELECT id FROM t JOIN (VALUES (timestamp '2020-01-01')) v(born) USING (born)`,
      `SELECT born FROM (SELECT born FROM t UNION ALL SELECT timestamp '2020-01-01') u WHERE born > '2019-01-01'`,
      `SELECT price FROM (SELECT price FROM t UNION ALL SELECT ${fraction}) u WHERE price > 1`,
      `SELECT id FROM t WHERE name::float8 > 0`,
      `SELECT id FROM t WHERE name::int > 0`,
      `SELECT id FROM t WHERE id::int2 > 0`,
      `SELECT id FROM t WHERE id::numeric(3, 0) > 0`,
      `SELECT id FROM t WHERE price::numeric(3, 1) > 0`,
      `SELECT id FROM t WHERE price::int > 0`,
      `SELECT id FROM t WHERE sin(id)::int > 0`,
      `SELECT id FROM t WHERE ARRAY[name]::int[] = ARRAY[1]`,
      `SELECT id FROM t WHERE name LIKE name`,
      `SELECT id FROM t WHERE name IS NULL OR NOT 1 / id > 0`,
      `WITH c AS (SELECT 1 / id AS x FROM t) SELECT x FROM c`,
      `SELECT id FROM (SELECT id FROM t ORDER BY 1 / id LIMIT 5) s`,
      `SELECT id FROM (SELECT DISTINCT ON (1 / id) id FROM t) s`,
      `SELECT count(*) FROM (SELECT 1 FROM t GROUP BY 1 / id) s`,
      `SELECT count(*) FROM (SELECT 1 / id FROM t EXCEPT SELECT 1) s`,
      `SELECT a.id FROM t a JOIN t b ON 1 / a.id = b.id`,
      `SELECT id FROM t, generate_series(1, 2)`,
      `SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t b WHERE 1 / b.id > 0)`,
      `SELECT (SELECT count(*) FROM t b WHERE 1 / b.id > 0) FROM t`,
      `SELECT id FROM t, LATERAL (VALUES (1 / t.id)) v(x) WHERE x > 0`,
      `SELECT count(*) FROM (SELECT 1 EXCEPT SELECT 1 / id FROM t) s`,
      `SELECT c.id FROM t c JOIN t d ON true JOIN (SELECT id FROM t WHERE 1 / id > 0) s ON true`,
      `SELECT c.id FROM (SELECT id FROM t WHERE 1 / id > 0) c JOIN t d ON true`,
      `SELECT id FROM t WHERE name ILIKE name`,
      `SELECT id FROM t WHERE CASE WHEN id > 1 THEN price ELSE ${fraction} END > 1`,
      `SELECT id FROM t WHERE price IN (SELECT ${fraction})`,
      `SELECT id FROM t WHERE ARRAY[price] = ARRAY[${fraction}]`,
      `SELECT id FROM t WHERE coalesce(price, 2) > 1.5`,
      `SELECT id FROM t WHERE coalesce(price, 2) > id::numeric`,
      `SELECT id FROM t WHERE id::int8::numeric > 0.${'1'.repeat(25)}`,
    ])('it is blank to what could: %s', (text) => {
      expect(trino(text, table({ filters }))).toContain(blank)
    })

    test('it is blank to a mask that could', () => {
      const given = table({ filters, masks: [['id', 'apply-expression', '100 / this_column']] })
      expect(trino('SELECT name FROM t WHERE id > 3', given)).toContain(blank)
      expect(trino('SELECT name FROM t', given)).not.toContain(blank)
    })

    test.each([
      `SELECT 1 / id FROM t WHERE price > 1.25 AND born > '2020-01-01'`,
      `SELECT date_trunc('month', born), sum(price / id) FROM t GROUP BY 1 HAVING sum(price) > 10.5`,
      `SELECT id FROM t WHERE price IN (1, 2.5) AND extract(year FROM current_timestamp) = 2020`,
      `SELECT id FROM t WHERE id::int8 > 0 AND id::numeric > 0 AND id::float8 > 0 AND price::float8 > 0`,
      `SELECT id FROM t WHERE price > id::numeric AND price > id::int8::numeric`,
      `SELECT id FROM t WHERE id::text = name AND name::varchar = 'x' AND current_timestamp::date = born`,
      `SELECT id FROM t WHERE name LIKE 'a%'`,
      `SELECT id FROM t WHERE id::numeric > 0.${'1'.repeat(25)}`,
      `SELECT DISTINCT ON (1 / id) id FROM t ORDER BY 1 / id`,
    ])('it needs not be where nothing could, or the result alone: %s', (text) => {
      expect(trino(text, table({ filters }))).not.toContain(blank)
    })
  })

  test('of a column know it as this_column, as its masks do', async () => {
    const given = table({ masks: [['name', 'apply-expression', `upper(this_column)`]] })
    const filter = {
      policyId: 'f',
      origin: { kind: 'column' },
      expression: 'this_column < 3',
      fieldId: 1,
    } as const
    expect(await rows('select id, name from t order by id', { ...given, rowFilters: [filter] })).toEqual([
      '1|A',
      '2|B',
    ])
    const unattached = { policyId: 'f', origin: { kind: 'table' }, expression: 'this_column < 3' } as const
    expect(stateOf(() => compile('select id from t', { ...given, rowFilters: [unattached] }))).toBe('42501')
    const gone = { ...filter, fieldId: 99 }
    expect(stateOf(() => compile('select id from t', { ...given, rowFilters: [gone] }))).toBe('42501')
  })

  test('name columns as today’s schema does, whatever the schema that is read calls them', async () => {
    const given = table({ filters: [`label = 'b'`] })
    const columns = given.columns.map((column) => ({
      ...column,
      policyName: column.name === 'name' ? 'label' : null,
    }))
    expect(await rows('select id, name from t', { ...given, columns })).toEqual(['2|b'])
    const byOldName = { ...table({ filters: [`name = 'b'`] }), columns }
    expect(stateOf(() => compile('select id from t', byOldName))).toBe('42501')
  })

  test('of one text are resolved again for each principal and each table', () => {
    const filters = ['price > 1 AND name = current_principal()']
    const filtered = table({ filters })
    const narrow = { ...filtered, columns: filtered.columns.filter(({ name }) => name !== 'price') }
    const text = 'SELECT id FROM t'
    const sqlFor = (sub: string) => {
      const compiled = compile(text, filtered, { sub, roles: [] })
      return renderSql(compiled.emit('duckdb'), 'duckdb')
    }
    expect(sqlFor('ann')).toContain("'ann'")
    expect(sqlFor('bob')).toContain("'bob'")
    expect(sqlFor('bob')).not.toContain("'ann'")
    expect(stateOf(() => compile(text, narrow))).toBe('42501')
  })

  test('read raw values of masked columns, which the statement never does', async () => {
    const given = table({ filters: [`name = 'b'`], masks: [['name', 'mask-alphanum']] })
    expect(await rows(`select id, name from t`, given)).toEqual(['2|x'])
    expect(await rows(`select id from t where name = 'b'`, given)).toEqual([])
  })

  test.each([
    'id > (select 1)',
    'id',
    'sum(id) > 1',
    'row_number() over () = 1',
    '$1 = id',
    'nothing = 1',
    'other.id = 1',
    'id = 1; drop table t',
    'id = 1) or (1 = 1',
    'id = 1 -- ',
    'true) from t where (true',
    'has_role(name)',
    'has_role()',
    "current_setting('x') = 'y'",
    't is not null',
    '*',
    'true, true',
    'true as x',
    '',
  ])('that is %p refuses the table, and is a problem at save', (expression) => {
    const given = table({ filters: [expression] })
    if (expression === 'id = 1 -- ') {
      expect(stateOf(() => compile('select id from t', given))).toBe('served')
      return
    }
    expect(stateOf(() => compile('select id from t', given))).toBe('42501')
    expect(checkPolicies(given)).toEqual([{ policyIds: ['f0'], message: expect.any(String) }])
  })

  test('of a table that is not read do nothing', () => {
    expect(stateOf(() => compile('select 1', table({ filters: ['nothing'] })))).toBe('served')
  })
})

describe('apply-expression', () => {
  test('reads the raw columns and keeps the type', async () => {
    const given = table({
      masks: [
        ['name', 'apply-expression', `upper(name) || id`],
        ['price', 'apply-expression', 'round(price)'],
      ],
    })
    expect(await rows('select name, price from t order by id', given)).toEqual([
      'A1|2.00',
      'B2|2.00',
      'null|null',
    ])
    expect(compile('select price from t', given).columns).toEqual([
      { name: 'price', type: 'numeric', size: [9, 2] },
    ])
  })

  test.each([['id'], ['(select name from t)'], ['nothing'], ["pg_read_file('x')"], ['born']])(
    '%p refuses a text column, and is a problem at save',
    (expression) => {
      const given = table({ masks: [['name', 'apply-expression', expression]] })
      expect(stateOf(() => compile('select name from t', given))).toBe('42501')
      expect(checkPolicies(given).length).toBeGreaterThan(0)
    },
  )
})

test('apply-expression of another type than its column is refused, though it could be taken for that', () => {
  const state = (column: string, expression: string) =>
    stateOf(() =>
      compile(`select ${column} from t`, table({ masks: [[column, 'apply-expression', expression]] })),
    )
  expect(state('price', 'id')).toBe('42501')
  expect(state('price', 'id::numeric')).toBe('served')
  expect(state('name', 'name::varchar')).toBe('served')
})

describe('what cannot be applied', () => {
  test.each([
    [
      [
        ['name', 'show-first-4'],
        ['name', 'show-last-4'],
      ],
    ],
    [[['name', 'hide']]],
    [[['id', 'mask-alphanum']]],
    [[['id', 'replace-with-null']]],
  ] as const)('%p refuses the column, and is a problem at save', (masks) => {
    const given = table({ masks })
    const [[column]] = masks
    expect(stateOf(() => compile(`select ${column} from t`, given))).toBe('42501')
    expect(stateOf(() => compile('select born from t', given))).toBe('served')
    expect(checkPolicies(given)).toHaveLength(1)
  })

  test('a refusal says nothing of the policy', () => {
    const given = table({ filters: ["name = 'hidden value'"], masks: [['name', 'secret-action']] })
    try {
      compile('select name from t', given)
      throw new Error('served')
    } catch (error) {
      expect(String(Reflect.get(error as object, 'publicMessage'))).toBe('permission denied for table t')
    }
  })

  test.each(['NAME', '', 'a\0', '\ud800'])(
    'a column by the name %j, beside `name`, refuses the table, and is a problem at save',
    (name) => {
      const given = table()
      const column = { name, fieldId: 9, type: 'string', required: false, masks: [] } as const
      const twice = { ...given, columns: [...given.columns, column] }
      expect(stateOf(() => compile('select id from t', twice))).toBe('42501')
      expect(checkPolicies(twice)).toHaveLength(1)
    },
  )

  test('an expression whose mask is not the one that is chosen is a problem at save, too', () => {
    const given = table({
      masks: [
        ['name', 'replace-with-null'],
        ['name', 'apply-expression', 'nothing'],
      ],
    })
    expect(stateOf(() => compile('select name from t', given))).toBe('served')
    expect(checkPolicies(given)).toEqual([{ policyIds: ['m1'], message: expect.any(String) }])
  })

  test('a table without an active contract is as one that there is not, unless the tenant opted in', () => {
    const { contract: _, ...bare } = table()
    const told = (text: string, roles: readonly string[]) => {
      try {
        compile(text, bare, { sub: 'ann', roles })
        return 'served'
      } catch (error) {
        if (!(error instanceof SqlError)) throw error
        return [error.sqlState, error.kind, error.position, error.publicMessage.replaceAll(/"\S+"/g, '…')]
      }
    }
    const missing = ['42P01', 'bad_request', 15, 'relation … does not exist']
    for (const roles of [[], ['analyst'], ['auditor', 'analyst']])
      for (const name of ['t', 's.t', 'u', 's.u'])
        expect(told(`select id from ${name}`, roles)).toEqual(missing)
    // Who oversees tables knows of it, and is told what it lacks.
    for (const role of ['steward', 'administrator', 'owner']) {
      expect(told('select id from t', [role])).toEqual(expect.arrayContaining(['42501', 'forbidden']))
      expect(told('select id from u', [role])).toEqual(missing)
    }
    expect(stateOf(() => compile('select id from t', { ...bare, readableWithoutContract: true }))).toBe(
      'served',
    )
  })

  test.each(['', 'a\0', '\ud800'])('a principal by the subject %j is refused', (sub) => {
    expect(stateOf(() => compile('select 1', table(), { sub, roles: [] }))).toBe('42501')
  })

  test('a salt that is missing refuses to render', () => {
    const parts = compile('select name from t', table({ masks: [['name', 'sha-256-query-local']] })).emit(
      'duckdb',
    )
    expect(stateOf(() => renderSql(parts, 'duckdb'))).toBe('42501')
    expect(stateOf(() => renderSql(parts, 'duckdb', { salt: new Uint8Array(8) }))).toBe('42501')
  })
})

describe('the compiled statement', () => {
  test('names what it reads, what was applied and its types', () => {
    const given = table({
      filters: ['id > 0'],
      masks: [
        ['name', 'mask-alphanum'],
        ['born', 'truncate-to-year'],
      ],
    })
    const compiled = compile(`select name, count(*) as n from t where price > $1 group by 1`, given)
    expect(compiled.columns).toEqual([
      { name: 'name', type: 'text', size: undefined },
      { name: 'n', type: 'int8', size: undefined },
    ])
    expect(compiled.parameters).toEqual(['numeric'])
    expect(compiled.reads).toEqual([{ table: given, columns: ['name', 'price'] }])
    expect(compiled.policies.map(({ policyId }) => policyId)).toEqual(['f0', 'm0'])
    expect(compiled.emit('duckdb')).not.toContainEqual({ slot: 'salt' })
  })

  test('has a fingerprint that literals do not change', () => {
    const of = fingerprintStatement
    expect(of(`select id from t where name = 'a'`)).toBe(String(of(`select id from t where name = 'b'`)))
    expect(of('select id from t')).not.toBe(of('select name from t'))
    expect(fingerprintStatement('not sql')).toBeUndefined()
  })

  test('has none where it never reaches the parser, or is too deep for it', () => {
    const deep = 20_000
    const texts = [
      `SELECT 1 WHERE 1 IN (${'1,'.repeat(600_000)}1)`,
      `SELECT ${'1+'.repeat(5_000)}1`,
      `SELECT ${'('.repeat(deep)}'secret'${')'.repeat(deep)}`,
    ]
    expect(texts.map(fingerprintStatement)).toEqual(texts.map(() => undefined))
  })

  test('reads no column that the statement does not name', () => {
    const sql = renderSql(compile('select count(*) from t', table()).emit('duckdb'), 'duckdb')
    expect(sql).not.toContain('name')
  })

  test('keeps parameters of DuckDB as parameters, and inlines them as literals for Trino', () => {
    const compiled = compile('select id from t where name = $1 limit $2', table())
    expect(renderSql(compiled.emit('duckdb'), 'duckdb')).toContain('CAST($1 AS VARCHAR)')
    const sql = renderSql(compiled.emit('trino'), 'trino', { parameters: ["x' or '1'='1", '5'] })
    expect(sql).toContain("'x'' or ''1''=''1'")
    expect(sql).toEndWith('LIMIT 5')
    expect(stateOf(() => renderSql(compiled.emit('trino'), 'trino', { parameters: ['x', '5; drop'] }))).toBe(
      '22P02',
    )
    expect(stateOf(() => renderSql(compiled.emit('trino'), 'trino', { parameters: ['x'] }))).toBe('42P02')
  })
})

test('every mask on DuckDB gives what its definition says, byte for byte', async () => {
  type Sample = readonly [type: string, duckdb: string, values: readonly (readonly [MaskValue, string])[]]
  const samples: readonly Sample[] = [
    [
      'string',
      'text',
      [
        '',
        'a',
        '1234',
        '12345',
        'Ab9 ü@(x),.-é',
        '😀😀😀😀😀1',
        'line\nbreak\t9',
        "it's",
        'null',
        'e\u0301combining 12',
        '日本語テキスト',
        'ß١٢',
      ].map((text) => [text, `'${text.replaceAll("'", "''")}'`] as const),
    ],
    [
      'int',
      'int',
      [0, 1, -1, 2147483647, -2147483648, 424242].map((value) => [value, String(value)] as const),
    ],
    [
      'long',
      'bigint',
      [0n, 1n, -1n, 9223372036854775807n, -9223372036854775808n].map(
        (value) => [value, `'${value}'::bigint`] as const,
      ),
    ],
    [
      'date',
      'date',
      [0, -1, 19_782, -141_428, 11_016].map((day) => [day, `(date '1970-01-01' + ${day})`] as const),
    ],
    [
      'timestamp',
      'timestamp',
      [0n, -1n, 1709251199999999n].map((us) => [us, `make_timestamp(${us}::bigint)`] as const),
    ],
    [
      'timestamptz',
      'timestamptz',
      [0n, -1n, 1709251199999999n].map(
        (us) => [us, `timezone('UTC', make_timestamp(${us}::bigint))`] as const,
      ),
    ],
    [
      'boolean',
      'boolean',
      [
        [true, 'true'],
        [false, 'false'],
      ],
    ],
    [
      'decimal(9,2)',
      'decimal(9,2)',
      [
        ['1.25', '1.25'],
        ['-3.00', '-3'],
      ],
    ],
    [
      'binary',
      'blob',
      [
        [new Uint8Array([0, 255, 1]), `unhex('00ff01')`],
        [new Uint8Array(), `unhex('')`],
      ],
    ],
    [
      'uuid',
      'uuid',
      [['00000000-0000-0000-0000-000000000001', `'00000000-0000-0000-0000-000000000001'::uuid`]],
    ],
    ['double', 'double', [[1.5, '1.5']]],
  ]
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run("set timezone = 'UTC'")
  let compared = 0
  for (const [type, duckdb, values] of samples) {
    await connection.run(`create or replace table v (n int, x ${duckdb})`)
    await connection.run(
      `insert into v values (0, null), ${values.map(([, sql], index) => `(${index + 1}, ${sql})`).join(', ')}`,
    )
    for (const action of maskActions) {
      if (action === 'apply-expression' || !maskFits(action, type)) continue
      const given: GovernedTable = {
        ...table(),
        relation: { duckdb: ['v'] },
        columns: [
          { name: 'n', fieldId: 1, type: 'int', required: false, masks: [] },
          {
            name: 'x',
            fieldId: 2,
            type,
            required: false,
            masks: [{ policyId: 'm', origin: { kind: 'column' }, action }],
          },
        ],
      }
      const sql = renderSql(compile('select x from t order by n', given).emit('duckdb'), 'duckdb', { salt })
      const actual = (await connection.runAndReadAll(sql)).getRows().map(([value]) => plain(value))
      const expected = [null, ...values.map(([value]) => value)].map((value) =>
        plain(masked(action, type, value)),
      )
      expect([type, action, ...actual]).toEqual([type, action, ...expected])
      compared += expected.length
    }
  }
  expect(compared).toBeGreaterThan(150)
  connection.closeSync()
  instance.closeSync()
})

function masked(action: MaskAction, type: string, value: MaskValue): MaskValue {
  return applyMask(action, type, value, salt)
}

/** DuckDB's value objects and ours as one text. */
function plain(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value)
  for (const key of ['days', 'micros']) if (key in value) return String(Reflect.get(value, key))
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if ('bytes' in value) return Buffer.from(value.bytes as Uint8Array).toString('hex')
  return String(value)
}
