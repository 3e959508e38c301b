/** Says which Iceberg types a contract admits for a property, and how a property is declared for a type. */

import type { ModelProperty } from '../../wire/odcs/model.ts'
import { canonicalType } from '../classify/types.ts'

/** The types that a property may have, as `manifest.column_type` writes them; undefined: every type. */
export function admittedTypes({ physicalType, logicalType }: Declared): AdmittedTypes | undefined {
  const physical = physicalType === undefined ? undefined : ofPhysical(canonicalType(physicalType))
  return physical ?? (logicalType === undefined ? undefined : logicalTypes[logicalType])
}

type Declared = Pick<ModelProperty, 'physicalType' | 'logicalType'>

interface AdmittedTypes {
  readonly exact: readonly string[]
  /** Types that begin so are admitted too: `decimal(`. */
  readonly prefix?: string
}

const primitives: ReadonlySet<string> = new Set([
  ...['boolean', 'int', 'long', 'float', 'double', 'date', 'time', 'timestamp', 'timestamptz'],
  ...['timestamp_ns', 'timestamptz_ns', 'string', 'uuid', 'binary', 'struct', 'list', 'map', 'variant'],
])

const decimalPrecisionMax = 38

/** Undefined for a type that is not Iceberg's: the logical type decides then. */
function ofPhysical(type: string): AdmittedTypes | undefined {
  const [, precision, scale] = /^decimal\((\d+),(\d+)\)$/.exec(type) ?? []
  // A wider decimal of the same scale breaks no reader.
  if (precision !== undefined && Number(precision) <= decimalPrecisionMax)
    return {
      exact: Array.from(
        { length: decimalPrecisionMax - Number(precision) + 1 },
        (_, index) => `decimal(${Number(precision) + index},${scale})`,
      ),
    }
  if (primitives.has(type) || /^fixed\[\d+\]$/.test(type)) return { exact: [type] }
  return undefined
}

const logicalTypes: Readonly<Record<string, AdmittedTypes>> = {
  string: { exact: ['string', 'uuid', 'binary'] },
  boolean: { exact: ['boolean'] },
  integer: { exact: ['int', 'long'] },
  number: { exact: ['int', 'long', 'float', 'double'], prefix: 'decimal(' },
  date: { exact: ['date'] },
  time: { exact: ['time'] },
  timestamp: { exact: ['timestamp', 'timestamptz', 'timestamp_ns', 'timestamptz_ns'] },
  object: { exact: ['struct', 'map', 'variant'] },
  array: { exact: ['list'] },
  map: { exact: ['map'] },
  vector: { exact: ['list'] },
}

/** Whether a type is admitted; `type` without spaces, as `manifest.column_type` writes it. */
export function admits(admitted: AdmittedTypes | undefined, type: string): boolean {
  if (admitted === undefined) return true
  return admitted.exact.includes(type) || (admitted.prefix !== undefined && type.startsWith(admitted.prefix))
}

/** The logical type of an Iceberg type; undefined where the standard has none. */
export function logicalTypeOf(type: string): string | undefined {
  if (type === 'struct') return 'object'
  if (type === 'list') return 'array'
  const fits = ([, admitted]: readonly [string, AdmittedTypes]) => admits(admitted, type)
  return Object.entries(logicalTypes).find(fits)?.[0]
}
