/** The subset of openCypher: what is parsed, and that everything else is refused by its name. */

import { describe, expect, test } from 'bun:test'
import { Fault } from '../../../src/base/fault.ts'
import { parseGraphQuery } from '../../../src/wire/cypher/parse.ts'
import { refusedExpressions, refusedWords } from '../../../src/wire/cypher/refused-words.ts'

function refusal(text: string): string {
  try {
    parseGraphQuery(text)
  } catch (thrown) {
    if (thrown instanceof Fault) return `${thrown.kind} ${thrown.publicMessage}`
    throw thrown
  }
  return 'parsed'
}

describe('a query of the subset', () => {
  test.each([
    'MATCH (t:Table) RETURN t',
    'match (t:Table {name: $name}) return distinct t.name as n order by n desc skip 1 limit 10',
    'MATCH p = (a:Dataset)-[r:LINEAGE_OF*1..3]->(b:Dataset)<-[:LINEAGE_OF]-(c:Dataset) RETURN p, length(p), nodes(p)',
    'MATCH (a:Table)-[:HAS_COLUMN]->(c:Column), (a)-[:IN_NAMESPACE]-(n:Namespace) WHERE NOT c.required RETURN a, n',
    'OPTIONAL MATCH (t:Table) WHERE t.name STARTS WITH "a" XOR t.name IS NOT NULL RETURN count(*)',
    'UNWIND $names AS name MATCH (t:Table {name: name}) WITH t, count(*) AS n WHERE n > 1 RETURN collect(DISTINCT t.name)',
    'CALL covenant.columns_tagged("pii") YIELD table, column AS c RETURN table.name, c.name',
    `MATCH (t:Table) WHERE t.name IN ['a', "b\\u0041", 'it\\'s'] RETURN size(t.name) AS s, -1.5 AS d`,
  ])('%s', (text) => {
    expect(refusal(text)).toBe('parsed')
  })

  test('has its keywords in any case, and names that equal keywords of refused clauses after a dot', () => {
    expect(parseGraphQuery('MATCH (t:Table) RETURN t.set')).toEqual(
      parseGraphQuery('match (t:Table) return t.set'),
    )
  })

  test('walks three hops where it names no end', () => {
    const hops = (walk: string) => {
      const [clause] = parseGraphQuery(`MATCH (a:A)-[:E${walk}]->(b:B) RETURN a`).clauses
      return clause?.kind === 'match' ? clause.paths[0]?.edges[0]?.hops : undefined
    }
    expect(hops('')).toBeUndefined()
    expect(hops('*')).toEqual({ min: 1, max: 3 })
    expect(hops('*2')).toEqual({ min: 2, max: 2 })
    expect(hops('*2..')).toEqual({ min: 2, max: 3 })
    expect(hops('*4..')).toEqual({ min: 4, max: 4 })
    expect(hops('*..5')).toEqual({ min: 1, max: 5 })
  })
})

describe('a clause that is not in the subset is refused by its name', () => {
  test.each(refusedWords.map((word) => [word]))('%s', (word) => {
    for (const text of [
      `${word} (t:Table)`,
      `${word.toLowerCase()} x`,
      `MATCH (t:Table) ${word} t.name RETURN t`,
      `MATCH (t:Table) RETURN t ${word} x`,
    ])
      expect(refusal(text)).toContain(`bad_request Graph query: ${word} is not allowed`)
  })

  test.each([
    ['CALL { MATCH (t:Table) RETURN t } RETURN t', 'CALL of a subquery is not allowed'],
    ['MATCH (t:Table) CALL (t) { RETURN 1 } RETURN t', 'CALL of a subquery is not allowed'],
    ['CALL db.labels() YIELD label RETURN label', 'there is no such procedure'],
    ['CALL apoc.load.json("x") YIELD value RETURN value', 'there is no such procedure'],
    ['CALL covenant.path(a, b) RETURN a', 'YIELD is expected'],
    ['UNWIND [1, 2] AS x RETURN x', 'UNWIND takes a parameter only'],
    ['UNWIND range(1, 1000000) AS x RETURN x', 'UNWIND takes a parameter only'],
    ['MATCH (t:Table) RETURN *', '`*` is not allowed'],
    ['MATCH (t:Table) WITH * RETURN t', '`*` is not allowed'],
    ['MATCH (t:Table) RETURN t; MATCH (t:Table) RETURN t', 'one statement without a semicolon'],
    ['MATCH (t:Table) // x\n RETURN t', 'comments are not allowed'],
    ['MATCH (t:Table) /* x */ RETURN t', 'comments are not allowed'],
    ['MATCH (t:`Table`) RETURN t', 'names in backticks are not allowed'],
    ['MATCH (t:Table)', 'a query ends with RETURN'],
    ['', 'a query ends with RETURN'],
  ])('%p', (text, message) => {
    expect(refusal(text)).toContain(message)
  })
})

describe('an expression that is not in the subset is refused by its name', () => {
  const calls = refusedExpressions.filter(
    (word) => !word.includes('{') && word !== 'CASE' && word !== 'NORMALIZED',
  )
  test.each(calls.map((word) => [word]))('%s', (word) => {
    expect(refusal(`MATCH (t:Table) WHERE ${word}((t)-[:E]->(x:B)) RETURN t`)).toContain(
      `${word} is not allowed`,
    )
    expect(refusal(`MATCH (t:Table) RETURN ${word.toLowerCase()}(x IN [1] WHERE x) AS y`)).toContain(
      `${word} is not allowed`,
    )
  })

  test.each([
    ['CASE WHEN t.name = "a" THEN 1 END', 'CASE is not allowed'],
    ['EXISTS { (t)-[:E]->(x:B) }', 'EXISTS is not allowed'],
    ['COUNT { (t)-[:E]->(x:B) }', 'COUNT { } is not allowed'],
    ['t.name =~ ".*"', 'regular expressions (=~) are not allowed'],
    ['t.name + "x"', 'arithmetic is not allowed'],
    ['t.version - 1', 'arithmetic is not allowed'],
    ['t.version * 2', 'arithmetic is not allowed'],
    ['t.version / 2', 'arithmetic is not allowed'],
    ['(t)-[:E]->(:B)', 'a pattern stands in MATCH only'],
    ['(t:Table)', 'a pattern stands in MATCH only'],
    ['t["name"]', '`[ ]` after a name is not allowed'],
    ['t { .name }', 'maps are allowed in patterns only'],
    ['{a: 1}', 'maps are allowed in patterns only'],
    ['[x IN [1] | x]', 'one type'],
    ['pg_sleep(10)', 'there is no such function'],
    ['covenant.x(1)', 'there is no such function'],
    ['id(t) = 1', 'there is no such function'],
    ['properties(t)', 'there is no such function'],
    ['1 < 2 < 3', 'comparisons are not chained'],
    ['9007199254740993 = 1', 'a number is too large'],
  ])('%p', (expression, message) => {
    expect(refusal(`MATCH (t:Table) WHERE ${expression} RETURN t`)).toContain(message)
  })
})

describe('a pattern that is not in the subset is refused by its name', () => {
  test.each([
    ['()', 'each node has a label'],
    ['(t:Table)-->(c:Column)', 'each edge has a type'],
    ['(t:Table)--(c:Column)', 'each edge has a type'],
    ['(t:Table)-[e]->(c:Column)', 'each edge has a type'],
    ['(t:Table)-[]->(c:Column)', 'each edge has a type'],
    ['(t:Table:Column)', 'a node has one label'],
    ['(t:Table|Column)', 'a node has one label, and an edge one type'],
    ['(t:Table)-[:A|B]->(c:Column)', 'a node has one label, and an edge one type'],
    ['(t:Table $map)', 'a parameter in place of a map is not allowed'],
    ['(t:Table WHERE t.name = "a")', 'WHERE inside of a pattern is not allowed'],
    ['shortestPath((a:A)-[:E*]->(b:B))', 'SHORTESTPATH is not allowed'],
    ['p = allShortestPaths((a:A)-[:E*]->(b:B))', 'ALLSHORTESTPATHS is not allowed'],
    ['((a:A)-[:E]->(b:B))', 'paths in parentheses are not allowed'],
    ['(a:A)-[:E*0..2]->(b:B)', 'a walk has 1 to 5 hops'],
    ['(a:A)-[:E*1..6]->(b:B)', 'a walk has 1 to 5 hops'],
    ['(a:A)-[:E*3..2]->(b:B)', 'a walk has 1 to 5 hops'],
    ['(a:A)-[:E*6..]->(b:B)', 'a walk has 1 to 5 hops'],
    ['(a:A)<-[:E]->(b:B)', 'one direction, or none'],
  ])('%p', (pattern, message) => {
    expect(refusal(`MATCH ${pattern} RETURN 1 AS x`)).toContain(message)
  })
})

describe('a text beyond a bound is refused', () => {
  test.each([
    ['characters', `MATCH (t:Table) RETURN t${' '.repeat(16_384)}`, 'at most 16384 characters'],
    ['tokens', `MATCH (t:Table) RETURN ${'[1,1,1,1],'.repeat(300)}1`, 'at most 2000 tokens'],
    [
      'brackets',
      `MATCH (t:Table) WHERE ${'('.repeat(900)}true${')'.repeat(900)} RETURN t`,
      'at most 32 levels',
    ],
    ['lists', `MATCH (t:Table) WHERE ${'['.repeat(900)} RETURN t`, 'at most 32 levels'],
    ['negations', `MATCH (t:Table) WHERE ${'NOT '.repeat(900)}true RETURN t`, 'at most 32 levels'],
    ['clauses', `${'MATCH (t:Table) '.repeat(13)}RETURN t`, 'at most 12 clauses'],
    [
      'items',
      `MATCH (t:Table) RETURN ${Array.from({ length: 30 }, (_, i) => `1 AS x${i}`).join(',')}`,
      'at most 20 items',
    ],
    ['items of a list', `MATCH (t:Table) WHERE 1 IN [${'1,'.repeat(200)}1] RETURN t`, 'at most 100 items'],
  ])('of %s', (_, text, message) => {
    expect(refusal(text)).toContain(message)
  })
})

test('no refusal repeats what the text says', () => {
  for (const text of [
    'canary',
    'MATCH (t:canary RETURN t',
    'MATCH (t:Table) RETURN canary(1)',
    "MATCH (t:Table) RETURN 'canary",
    'CALL canary.x() YIELD y RETURN y',
    'MATCH (t:Table) RETURN t canary',
  ])
    expect(refusal(text)).not.toContain('canary')
})
