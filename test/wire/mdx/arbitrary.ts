/** Random syntax trees of MDX, such as the parser makes: operands of an operator stand in parentheses. */

import fc from 'fast-check'
import type { MdxAxis, MdxExpression, MdxFrom, MdxSelect, NamePart } from '../../../src/wire/mdx/ast.ts'
import { mdxFunctions, mdxMethods, mdxProperties } from '../../../src/wire/mdx/words.ts'

const text = fc.string({ unit: 'binary', maxLength: 8 }).map((each) => each.replaceAll('\0', ''))
const bracketed: fc.Arbitrary<NamePart> = text.map((name) => ({ kind: 'name', name, quoted: true }))
const word: fc.Arbitrary<NamePart> = fc
  .constantFrom('Measures', 'x', 'größe', '_a1', 'XL_Set_0')
  .map((name) => ({ kind: 'name', name, quoted: false }))
const key: fc.Arbitrary<NamePart> = fc.option(text).map((found) => ({ kind: 'key', key: found }))
const part = fc.oneof(bracketed, word)
export const names = fc
  .tuple(part, fc.array(fc.oneof(bracketed, word, key), { maxLength: 3 }))
  .map(([first, more]) => [first, ...more])
const plainNames = fc.array(part, { minLength: 1, maxLength: 3 })

const tie = fc.letrec<{ any: MdxExpression; operand: MdxExpression }>((each) => {
  const parenthesized = fc
    .array(each('any'), { minLength: 1, maxLength: 3 })
    .map((items): MdxExpression => ({ kind: 'tuple', items }))
  const operand = fc.oneof(
    { depthSize: 'small' },
    names.map((parts): MdxExpression => ({ kind: 'name', parts })),
    fc
      .double({ min: 0, noNaN: true, noDefaultInfinity: true })
      .map((value): MdxExpression => ({ kind: 'number', value: Math.abs(value) })),
    text.map((value): MdxExpression => ({ kind: 'string', value })),
    fc.constant<MdxExpression>({ kind: 'null' }),
    fc.constant<MdxExpression>({ kind: 'parameter', name: 'p1' }),
    parenthesized,
    fc.array(each('any'), { maxLength: 3 }).map((items): MdxExpression => ({ kind: 'set', items })),
    fc
      .tuple(
        fc.constantFrom(...mdxFunctions),
        fc.array(fc.option(each('any'), { nil: undefined }), { maxLength: 4 }),
      )
      // One argument that is left out looks like none.
      .map(
        ([name, given]): MdxExpression => ({
          ...{ kind: 'call', name, arguments: given.length === 1 && given[0] === undefined ? [] : given },
        }),
      ),
    fc
      .tuple(each('operand'), fc.constantFrom(...mdxProperties))
      .map(([of, name]): MdxExpression => ({ kind: 'property', of: postfixed(of), name })),
    fc
      .tuple(each('operand'), fc.constantFrom(...mdxMethods), fc.array(each('any'), { maxLength: 2 }))
      .map(
        ([of, name, given]): MdxExpression => ({ kind: 'method', of: postfixed(of), name, arguments: given }),
      ),
    fc
      .tuple(
        fc.option(each('any'), { nil: undefined }),
        fc.array(fc.record({ when: each('any'), result: each('any') }), { minLength: 1, maxLength: 2 }),
        fc.option(each('any'), { nil: undefined }),
      )
      .map(([of, branches, otherwise]): MdxExpression => ({ kind: 'case', of, branches, otherwise })),
  )
  return {
    operand,
    any: fc.oneof(
      { depthSize: 'small' },
      operand,
      fc
        .tuple(
          each('operand'),
          fc.constantFrom('OR', 'AND', '=', '<=', 'IS', '+', '-', '*', '/', '^', ':'),
          each('operand'),
        )
        .map(([left, operator, right]): MdxExpression => ({ kind: 'binary', operator, left, right })),
      fc
        .tuple(fc.constantFrom('not', 'negative', 'existing'), each('operand'))
        .map(([kind, inner]): MdxExpression => ({ kind, operand: inner })),
    ),
  }
})

/** What a dot may follow without another meaning. */
function postfixed(of: MdxExpression): MdxExpression {
  return of.kind === 'number' || of.kind === 'case' ? { kind: 'tuple', items: [of] } : of
}

export const expressions: fc.Arbitrary<MdxExpression> = tie.any

const axis = (ordinal: number): fc.Arbitrary<MdxAxis> =>
  fc.record({
    ordinal: fc.constant(ordinal),
    nonEmpty: fc.boolean(),
    set: expressions,
    having: fc.option(expressions, { nil: undefined }),
    properties: fc.array(plainNames, { maxLength: 2 }),
  })
const axes = fc.oneof(fc.tuple(axis(0)), fc.tuple(axis(0), axis(1)))
const where = fc.option(expressions, { nil: undefined })
const { from } = fc.letrec<{ from: MdxFrom }>((each) => ({
  from: fc.oneof(
    { depthSize: 'small' },
    text.map((name): MdxFrom => ({ kind: 'cube', name })),
    fc.record({
      kind: fc.constant('subselect' as const),
      nonVisual: fc.boolean(),
      axes,
      from: each('from'),
      where,
    }),
  ),
}))

export const selects: fc.Arbitrary<MdxSelect> = fc.record({
  kind: fc.constant('select' as const),
  formulas: fc.array(
    fc.record({
      kind: fc.constantFrom('member', 'set'),
      name: plainNames,
      expression: expressions,
      properties: fc.array(
        fc.record({ name: fc.constantFrom('FORMAT_STRING', 'SOLVE_ORDER'), value: expressions }),
        {
          maxLength: 2,
        },
      ),
    }),
    { maxLength: 2 },
  ),
  axes: fc.oneof(fc.constant([]), axes),
  from,
  where,
  cellProperties: fc.array(fc.constantFrom('VALUE', 'FORMATTED_VALUE'), { maxLength: 2 }),
})
