import { describe, expect, test } from 'bun:test'
import { Fault } from '../../../src/base/fault.ts'
import { checkCypher } from '../../../src/store/graph/cypher.ts'

describe('admitted Cypher', () => {
  test.each([
    'MATCH (t:Table) RETURN t',
    'MATCH (t:Table {id: $id}) RETURN t.name, count(*) ORDER BY t.name DESC SKIP 1 LIMIT 10',
    'MATCH (a:Table)-[:HAS_COLUMN]->(c:Column)<-[e:TAGGED]-(:Tag) WHERE c.id STARTS WITH "x" AND NOT (a.n > -1) RETURN c, e',
    'MATCH (a:Table) MATCH (a)-[:IN_NAMESPACE]->(n:Namespace) RETURN toLower(n.name)',
    'MATCH (t:Table) WHERE t.create = "MERGE (x) [*1..5]" RETURN t.set',
  ])('%s', (text) => {
    expect(checkCypher(text)).toBeUndefined()
  })
})

describe('refused Cypher', () => {
  test.each([
    ['no text', ''],
    ['an unlabelled node', 'MATCH (n) RETURN n'],
    ['an anonymous node', 'MATCH () RETURN 1'],
    ['an unlabelled end', 'MATCH (t:Table)-[:TAGGED]->(n) RETURN n'],
    ['an unlabelled relationship', 'MATCH (t:Table)-[e]->(n:Tag) RETURN n'],
    ['a bare arrow', 'MATCH (t:Table)-->(n:Tag) RETURN n'],
    ['a bare line', 'MATCH (t:Table)--(n:Tag) RETURN n'],
    ['a variable length', 'MATCH (t:Table)-[:TAGGED*1..5]->(n:Tag) RETURN n'],
    ['an unlabelled variable length', 'MATCH (t:Table)-[*]->(n:Tag) RETURN n'],
    ['several labels', 'MATCH (t:Table)-[:TAGGED|HAS_COLUMN]->(n:Tag) RETURN n'],
    ['an unknown label', 'MATCH (t:Tables) RETURN t'],
    ['an edge label on a node', 'MATCH (t:TAGGED) RETURN t'],
    ['a pattern in an expression', 'MATCH (t:Table) WHERE exists((t)-[*1..5]->(t)) RETURN t'],
    ['a pattern to the left', 'MATCH (t:Table) WHERE exists((t)<-[*]-(t)) RETURN t'],
    ['CREATE', 'MATCH (t:Table) CREATE (t2:Table) RETURN t'],
    ['MERGE', 'MATCH (t:Table) merge (t2:Table) RETURN t'],
    ['SET', 'MATCH (t:Table) SET t.x = 1 RETURN t'],
    ['DETACH DELETE', 'MATCH (t:Table) DETACH DELETE t RETURN 1'],
    ['CALL', 'MATCH (t:Table) CALL pg_sleep(1) YIELD x RETURN t'],
    ['UNION', 'MATCH (t:Table) RETURN t UNION MATCH (n) RETURN n'],
    ['a function of PostgreSQL', 'MATCH (t:Table) RETURN pg_catalog.set_config("app.tenant_id", "x", false)'],
    ['an unknown function', 'MATCH (t:Table) RETURN pg_sleep(10)'],
    ['an end of the quote', 'MATCH (t:Table) RETURN $covenant$ , 1) as (a agtype); select 1 --'],
    ['an end of the quote in a text', "MATCH (t:Table) WHERE t.name = '$covenant$' RETURN t"],
    ['a comment', 'MATCH (t:Table) /* x */ RETURN t'],
    ['a line comment', 'MATCH (t:Table) // x\n RETURN t'],
    ['a quoted name', 'MATCH (t:`Table`) RETURN t'],
    ['a semicolon', 'MATCH (t:Table) RETURN t; MATCH (t:Table) RETURN t'],
    ['an open string', "MATCH (t:Table) RETURN 'x"],
    ['no RETURN', 'MATCH (t:Table)'],
    ['a pattern in a property map', 'MATCH (t:Table {a: (n)-[*]->(m)}) RETURN t'],
    ['a long query', `MATCH (t:Table) RETURN t${' '.repeat(30_000)}`],
  ])('%s', (_, text) => {
    expect(() => checkCypher(text)).toThrow(Fault)
  })
})
