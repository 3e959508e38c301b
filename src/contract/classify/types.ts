/** Compares the types of a property as Iceberg permits them to change, and as SQL readers see them. */

import type { ModelProperty } from '../../wire/odcs/model.ts'
import { type Finding, finding, harmless, loosened, replaced, tightened } from './finding.ts'

const names: Readonly<Record<string, string>> = {
  ...{ integer: 'int', int4: 'int', bigint: 'long', int8: 'long', real: 'float', float4: 'float' },
  ...{ 'double precision': 'double', float8: 'double', varchar: 'string', text: 'string', bool: 'boolean' },
}

/** A type in one spelling: the name that Iceberg has for it, where it has one. */
export function canonicalType(type: string): string {
  const text = type
    .trim()
    .toLowerCase()
    .replaceAll(/\s*([(),])\s*/g, '$1')
  return names[text] ?? text.replace(/^numeric\(/, 'decimal(')
}

/** The findings about a property's type. */
export function typeFindings(at: string, before: ModelProperty, after: ModelProperty): readonly Finding[] {
  const physical = physicalFinding(at, before.physicalType, after.physicalType)
  const logical =
    before.logicalType === after.logicalType
      ? undefined
      : changed(at, 'logical', before.logicalType, after.logicalType)
  return [physical, logical].filter((one) => one !== undefined)
}

function changed(at: string, kind: string, before: string | undefined, after: string | undefined): Finding {
  if (before === undefined)
    return finding(at, 'type-stated', tightened, `The ${kind} type ${after} is stated`)
  if (after === undefined)
    return finding(at, 'type-unstated', loosened, `The ${kind} type ${before} is no longer stated`)
  return finding(at, 'type-changed', replaced, `The ${kind} type changes from ${before} to ${after}`)
}

function physicalFinding(
  at: string,
  before: string | undefined,
  after: string | undefined,
): Finding | undefined {
  if (before === undefined || after === undefined)
    return before === after ? undefined : changed(at, 'physical', before, after)
  const [old, now] = [canonicalType(before), canonicalType(after)]
  if (old === now) return undefined
  const message = `The type is widened from ${before} to ${after}`
  if ((old === 'int' && now === 'long') || (old === 'float' && now === 'double'))
    return finding(at, 'type-widened', loosened, `${message}, which is another type to SQL readers`)
  if (isWiderDecimal(old, now))
    return finding(at, 'type-widened', { ...harmless, consumer: 'warning' }, message)
  return changed(at, 'physical', before, after)
}

function isWiderDecimal(before: string, after: string): boolean {
  const [, p, s] = /^decimal\((\d+),(\d+)\)$/.exec(before) ?? []
  const [, p2, s2] = /^decimal\((\d+),(\d+)\)$/.exec(after) ?? []
  return p !== undefined && p2 !== undefined && s === s2 && Number(p2) > Number(p)
}
