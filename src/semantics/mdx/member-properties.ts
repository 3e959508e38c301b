/** The properties of members that statements and axes may name. Nothing else of a row is one. */

import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { Value } from './context.ts'
import { type Member, parentOf } from './space.ts'

/** Codes of MDMEMBER_TYPE. */
const types = { key: 1, all: 2, measure: 3, calculated: 4 } as const satisfies Record<Member['kind'], number>

const values: Readonly<Record<string, (member: Member) => Value>> = {
  CAPTION: ({ caption }) => caption,
  MEMBER_CAPTION: ({ caption }) => caption,
  NAME: nameOf,
  MEMBER_NAME: nameOf,
  UNIQUENAME: ({ uniqueName }) => uniqueName,
  UNIQUE_NAME: ({ uniqueName }) => uniqueName,
  MEMBER_UNIQUE_NAME: ({ uniqueName }) => uniqueName,
  KEY: keyOf,
  KEY0: keyOf,
  MEMBER_KEY: keyOf,
  MEMBER_VALUE: typedKey,
  MEMBERVALUE: typedKey,
  MEMBER_TYPE: ({ kind }) => types[kind],
  LEVEL_NUMBER: ({ level }) => level.number,
  LEVEL_UNIQUE_NAME: ({ level }) => level.uniqueName,
  HIERARCHY_UNIQUE_NAME: ({ at }) => at.uniqueName,
  DIMENSION_UNIQUE_NAME: ({ at }) => at.dimension.uniqueName,
  CUBE_NAME: () => null,
  DESCRIPTION: ({ at, ...member }) => (member.kind === 'measure' ? member.measure.description : null),
  PARENT_UNIQUE_NAME: (member) => parentOf(member)?.uniqueName ?? null,
  PARENT_LEVEL: (member) => parentOf(member)?.level.number ?? 0,
  PARENT_COUNT: (member) => (parentOf(member) === undefined ? 0 : 1),
  SKIPPED_LEVELS: () => 0,
}

/** The properties that a member has, in upper case. */
export const memberPropertyNames: readonly string[] = Object.keys(values)

const keyNames: ReadonlySet<string> = new Set(['KEY', 'KEY0', 'MEMBER_KEY'])

/**
 * @param name in upper case
 * @param isTyped whether a key that is a number is one here, too
 * @throws Fault `bad_request` for one that is not supported
 */
export function memberProperty(member: Member, name: string, isTyped = false): Value {
  if (isTyped && keyNames.has(name) && member.kind === 'key') return typedKey(member)
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  return value === undefined ? refuseMdx('a property of a member is not supported') : value(member)
}

function nameOf(member: Member): Value {
  return member.kind === 'calculated' ? member.formula.name : member.caption
}

function keyOf(member: Member): Value {
  return member.kind === 'key' ? member.key : member.kind === 'all' ? '0' : member.caption
}

/** The key as a number where it is one, so that conditions compare it as such. */
function typedKey(member: Member): Value {
  if (member.kind !== 'key') return member.caption
  const type = member.level.key?.type ?? 'text'
  if (member.key === null) return null
  return /^(?:int|numeric|float)/.test(type)
    ? Number(member.key)
    : type === 'bool'
      ? member.key.startsWith('t')
      : member.key
}
