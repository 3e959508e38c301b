/** Results of benchmarks as tables. */

import { expect, test } from 'bun:test'
import { markdownTable, resultTable } from '../../bench/table.ts'

const results = [
  { bench: 'b', case: { of: 'a|b', size: 10 }, figures: { ms: 1.5 }, verdict: 'flat' },
  { bench: 'b', case: { of: 'c', size: 100 }, figures: { us: 2 } },
]

test('a table has a row for each result, and an empty cell where a result has no such figure', () => {
  expect(resultTable('b', results).split('\n')).toEqual([
    'b',
    ' of  size   ms  us  verdict',
    'a|b    10  1.5         flat',
    '  c   100        2',
  ])
})

test('a table of Markdown keeps a bar in a cell', () => {
  expect(markdownTable(results).split('\n')).toEqual([
    '| of | size | ms | us | verdict |',
    '|---|---|---|---|---|',
    '| a\\|b | 10 | 1.5 |  | flat |',
    '| c | 100 |  | 2 |  |',
  ])
})
