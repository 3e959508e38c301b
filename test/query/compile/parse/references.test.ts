import { expect, test } from 'bun:test'
import { referencedRelations } from '../../../../src/query/compile/parse/references.ts'

const names = (text: string) =>
  referencedRelations(text)
    .map(({ schemaName, tableName }) => [schemaName ?? '', tableName].join('.'))
    .sort()

test('every relation that a statement names is found once, at any depth', () => {
  expect(
    names(
      `WITH w AS (SELECT * FROM a) SELECT (SELECT 1 FROM s.b) FROM w JOIN LATERAL (SELECT * FROM s.b) x ON x.y IN (SELECT z FROM "C") UNION SELECT * FROM a`,
    ),
  ).toEqual(['.C', '.a', '.w', 's.b'])
})

test('a statement that is refused has none', () => {
  expect(() => names('DROP TABLE a')).toThrow()
  expect(() => names('SELECT * FROM ONLY x.y')).toThrow()
})
