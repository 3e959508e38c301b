/** A class is one file and its words. Every other list of classes follows from these, or is compared here. */

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { classes, findingClasses } from '../../../src/core/classification.ts'
import { detectorClasses } from '../../../src/detection/classify/classes/detector-classes.ts'
import { classifyColumn } from '../../../src/detection/classify/classify.ts'
import { maskValue } from '../../../src/detection/classify/mask.ts'
import { readNameSignals } from '../../../src/detection/classify/names.ts'
import { readProject } from '../../tidy/source-files.ts'

describe.each(classes)('the class %s', (each) => {
  const { words, shownChars } = detectorClasses[each]
  const first = (words.terms.english?.sure ?? '').split(/\s+/)[0] ?? ''

  test('is found by the first of its own words alone', () => {
    expect(first).not.toBe('')
    const found = classifyColumn({ name: first, values: [], sampledCount: 0 })
    expect(found.map(({ class: name, shape }) => [name, shape])).toContainEqual([each, 'name'])
  })

  test('is contradicted by the first word of its other identifiers', () => {
    const other = words.otherIdentifiers.split(/\s+/)[0] ?? ''
    expect([other, readNameSignals(other)[each]]).toEqual([other, 'contradicted'])
  })

  test('is only hinted at beside the first word of its other content', () => {
    const name = `${first}_${words.otherContent.split(/\s+/)[0]}`
    expect([name, readNameSignals(name)[each]]).toEqual([name, 'hint'])
  })

  test('shows no more of a value than its last characters', () => {
    const value = '0123456789'
    const shown = value.slice(value.length - shownChars)
    expect(maskValue(value, each)).toBe(`${'*'.repeat(value.length - shownChars)}${shown}`)
  })

  test('has a row in docs/detection-quality.md', () => {
    expect(readFileSync('docs/detection-quality.md', 'utf8')).toMatch(new RegExp(`^\\| \`${each}\` \\|`, 'm'))
  })
})

test('the store took exactly the classes that have a detector, and takes names of classifiers now', () => {
  const folder = 'migrations'
  const constraints = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .flatMap((name) => [
      ...readFileSync(`${folder}/${name}`, 'utf8').matchAll(/check \(class in \(([^)]*)\)\)/g),
    ])
  expect(constraints.map(([, names = '']) => names.replaceAll("'", '').split(', '))).toEqual([
    [...classes],
    [...findingClasses],
  ])
})

test('no file of the service names a class but the list, the table of detectors and its own', () => {
  const named = new RegExp(
    `'(?:${classes.join('|')})'|\\b(?:${classes.join('|')}):|\\bus_ssn\\b|\\bcredit_card\\b`,
  )
  // Elsewhere, `email` and `phone` are members of other things.
  const ofDetection = /^src\/(?:detection|storage|core\/(?:classification|detection)|store\/detection)/
  const files = readProject('.').filter(
    ({ path, text }) =>
      path.startsWith('src/') &&
      (ofDetection.test(path) ? named.test(text) : /\b(?:us_ssn|credit_card)\b/.test(text)),
  )
  expect(files.map(({ path }) => path)).toEqual([
    'src/core/classification.ts',
    'src/detection/classify/classes/credit-card.ts',
    'src/detection/classify/classes/detector-classes.ts',
    'src/detection/classify/classes/email.ts',
    'src/detection/classify/classes/iban.ts',
    'src/detection/classify/classes/phone.ts',
    'src/detection/classify/classes/us-ssn.ts',
  ])
})
