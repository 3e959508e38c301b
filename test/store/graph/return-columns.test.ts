import { expect, test } from 'bun:test'
import { checkCypher } from '../../../src/store/graph/cypher.ts'
import { returnColumns } from '../../../src/store/graph/return-columns.ts'

test.each([
  ['MATCH (t:Table) RETURN t', ['t']],
  ['match (t:Table) return t.name, t.id', ['name', 'id']],
  ['MATCH (t:Table) RETURN t.name AS n, count(t)', ['n', 'column_2']],
  ['MATCH (t:Table) RETURN DISTINCT t.Name ORDER BY t.Name LIMIT 3', ['name']],
  ['MATCH (t:Table)-[:HAS_COLUMN]->(c:Column) RETURN t.id, c.id', ['id', 'column_2']],
  ['MATCH (t:Table) RETURN t.a AS column_2, count(t), t.b', ['column_2', 'column_3', 'b']],
  [
    'MATCH (t:Table) RETURN coalesce(t.a, "x, RETURN y"), [t.a, t.b], t.limit',
    ['column_1', 'column_2', 'limit'],
  ],
  ['MATCH (t:Table) WHERE t.return = 1 RETURN t.x + 1', ['column_1']],
] as const)('%s', (query, names) => {
  checkCypher(query)
  expect(returnColumns(query)).toEqual([...names])
})
