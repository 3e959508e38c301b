/**
 * Parses CREATE and DROP of the members and sets of a session. Both may hold several, of one cube. What else they create or
 * drop on other servers is refused.
 */

import type { MdxFormula, MdxStatement, NamePart } from './ast.ts'
import type { MdxCursor } from './cursor.ts'
import { parseMdxName } from './parse-expression.ts'
import { parseFormula } from './parse-formulas.ts'

const modifiers = ['SESSION', 'HIDDEN', 'CALCULATED', 'STATIC', 'DYNAMIC'] as const
type Modifier = (typeof modifiers)[number]

/** After CREATE. @throws Fault `bad_request` */
export function parseCreate(cursor: MdxCursor): MdxStatement {
  const found = [parseCreated(cursor)]
  for (;;) {
    const isNext = cursor.symbol(',') || isCreated(cursor)
    if (!isNext) break
    found.push(parseCreated(cursor))
  }
  return { kind: 'create', cube: cubeOf(cursor, found), formulas: found.map(({ formula }) => formula) }
}

const isCreated = (cursor: MdxCursor) => [...modifiers, 'MEMBER', 'SET'].some((word) => cursor.isWord(word))

interface Created {
  /** Undefined for CURRENTCUBE. */
  readonly cube: string | undefined
  readonly formula: MdxFormula
}

function parseCreated(cursor: MdxCursor): Created {
  const given = new Set<Modifier>()
  for (;;) {
    const word = modifiers.find((each) => cursor.words(each))
    if (word === undefined) break
    given.add(word)
  }
  const kind = parseKind(cursor, 'CREATE')
  const isTold = given.has('STATIC') || given.has('DYNAMIC')
  if (kind === 'member' ? isTold : given.has('CALCULATED'))
    cursor.fail('STATIC and DYNAMIC are of sets, and CALCULATED is of members')
  if (given.has('STATIC') && given.has('DYNAMIC')) cursor.fail('a set is STATIC or DYNAMIC')
  const { name, ...formula } = parseFormula(cursor, kind)
  const { cube, rest } = withoutCube(cursor, name)
  return {
    cube,
    formula: {
      ...{ ...formula, name: rest },
      ...(given.has('HIDDEN') && { isHidden: true as const }),
      // A set is static where nothing is said.
      ...(kind === 'set' && !given.has('DYNAMIC') && { isStatic: true as const }),
    },
  }
}

function parseKind(cursor: MdxCursor, verb: 'CREATE' | 'DROP'): MdxFormula['kind'] {
  if (cursor.words('MEMBER')) return 'member'
  if (cursor.words('SET')) return 'set'
  return cursor.fail(`of ${verb}, only ${verb} MEMBER and SET of a session are supported`)
}

function withoutCube(cursor: MdxCursor, [first, ...rest]: readonly NamePart[]) {
  if (first?.kind !== 'name' || rest.length === 0)
    return cursor.fail('a name begins with that of the cube, or with CURRENTCUBE')
  const isCurrent = !first.quoted && first.name.toUpperCase() === 'CURRENTCUBE'
  return { cube: isCurrent ? undefined : first.name, rest }
}

function cubeOf(
  cursor: MdxCursor,
  all: readonly { readonly cube: string | undefined }[],
): string | undefined {
  const [cube, ...more] = new Set(all.map((each) => each.cube))
  if (more.length > 0) cursor.fail('one statement is about what one cube has')
  return cube
}

/** After DROP. @throws Fault `bad_request` */
export function parseDrop(cursor: MdxCursor): MdxStatement {
  cursor.words('SESSION')
  const isCalculated = cursor.words('CALCULATED')
  const of = parseKind(cursor, 'DROP')
  if (isCalculated && of === 'set') cursor.fail('CALCULATED is of members')
  const found = []
  do found.push(withoutCube(cursor, parseMdxName(cursor)))
  while (cursor.symbol(','))
  return { kind: 'drop', of, cube: cubeOf(cursor, found), names: found.map(({ rest }) => rest) }
}
