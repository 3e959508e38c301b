import { describe, expect, test } from 'bun:test'
import type { Hierarchy, KeyLevel } from '../../../src/semantics/cube/model.ts'
import { memberCaption, memberUniqueName, uniqueNameOf } from '../../../src/semantics/cube/names.ts'

function level(name: string, grain?: 'year' | 'quarter' | 'month' | 'day'): KeyLevel {
  const key = { column: 'c', type: grain === undefined ? ('text' as const) : ('date' as const) }
  return {
    kind: 'key',
    ...{ name, uniqueName: uniqueNameOf('D', 'H', name), caption: name, number: 1 },
    key: grain === undefined ? key : { ...key, grain },
  }
}

function hierarchy(kind: Hierarchy['kind']): Hierarchy {
  return {
    ...{ name: 'H', uniqueName: '[D].[H]', caption: 'H', description: '', folder: '', ordinal: 1, kind },
    dimension: { name: 'D', uniqueName: '[D]' },
    allMember: { uniqueName: '[D].[H].[All]', caption: 'All' },
    levels: [
      { kind: 'all', name: '(All)', uniqueName: '[D].[H].[(All)]', caption: '(All)', number: 0 },
      level('H'),
    ],
  }
}

describe('names of members', () => {
  test('a closing bracket in a name is doubled', () => {
    expect(uniqueNameOf('a]b', 'c[d')).toBe('[a]]b].[c[d]')
    expect(memberUniqueName(hierarchy('attribute'), level('H'), 'x]')).toBe('[D].[H].&[x]]]')
  })
  test('the member of NULL has another name than every text', () => {
    expect(memberUniqueName(hierarchy('attribute'), level('H'), null)).toBe('[D].[H].&')
    expect(memberUniqueName(hierarchy('attribute'), level('H'), '')).toBe('[D].[H].&[]')
  })
  test('the first days of a year and of its first month have two names', () => {
    const calendar = hierarchy('calendar')
    expect(memberUniqueName(calendar, level('Year', 'year'), '2026-01-01')).toBe(
      '[D].[H].[Year].&[2026-01-01]',
    )
    expect(memberUniqueName(calendar, level('Month', 'month'), '2026-01-01')).toBe(
      '[D].[H].[Month].&[2026-01-01]',
    )
  })
  test.each([
    ['year', '2026-01-01', '2026'],
    ['quarter', '2026-04-01', 'Q2 2026'],
    ['month', '2026-12-01', 'December 2026'],
    ['day', '2026-12-24', '2026-12-24'],
    ['year', '0044-01-01 BC', '0044-01-01 BC'],
    ['month', 'infinity', 'infinity'],
  ] as const)('a %s beginning on %s is shown as %s', (grain, key, caption) => {
    expect(memberCaption(level('L', grain), key)).toBe(caption)
  })
  test('another key is shown by its text, and NULL as Unknown', () => {
    expect(memberCaption(level('H'), 'EU')).toBe('EU')
    expect(memberCaption(level('H'), null)).toBe('Unknown')
  })
})
