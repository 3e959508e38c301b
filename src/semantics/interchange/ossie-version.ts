/**
 * Tells the versions of Apache Ossie apart. 0.1.1 has a list of models. 0.2 is a draft, `0.2.0.dev0`: until September 2026
 * it had the list too, since then a document is one model, and its fields and metrics have types. Another version is refused
 * by its name, because what it means by a member is not known here.
 */

import { DocumentRefusal } from '../../wire/odcs/problem.ts'
import { isPlain, type Plain } from './members.ts'

const versions = ['0.1.1', '0.2.0.dev0'] as const

interface OssieForm {
  /** Whether the document is a model itself, beside its version. */
  readonly isFlat: boolean
  /** Whether fields and metrics have types, by which a field is a time. */
  readonly isTyped: boolean
  /** The models, as an export keeps them: without what 0.1.1 does not have. */
  readonly models: readonly Plain[]
}

/** @throws DocumentRefusal for another version, or what is no document of its version */
export function ossieForm({ version, ...model }: Plain): OssieForm {
  const found = versions.find((each) => each === version)
  const refuse = (path: string, message: string) => new DocumentRefusal([{ path, message }])
  if (found === undefined) {
    const named = version === undefined ? 'A document without a version' : `Version ${textOf(version)}`
    throw refuse('/version', `${named} is not supported; ${versions.join(' and ')} are`)
  }
  const isTyped = found !== '0.1.1'
  const { semantic_model: listed } = model
  const isFlat = isTyped && listed === undefined
  if (isFlat && !Array.isArray(model.datasets)) throw refuse('/datasets', 'It must be a list')
  if (!isFlat && !Array.isArray(listed)) throw refuse('/semantic_model', 'It must be a list')
  if (!isFlat && isTyped && model.datasets !== undefined)
    throw refuse('/datasets', 'A document has a list of models, or is one')
  const models = (isFlat ? [model] : (listed as readonly unknown[])).filter(isPlain)
  return { isFlat, isTyped, models: isTyped ? models.map(withoutTypes) : models }
}

const textOf = (version: unknown) => String(JSON.stringify(version)).slice(0, 40)

function withoutTypes(model: Plain): Plain {
  const each = (of: unknown, map: (one: Plain) => Plain) =>
    Array.isArray(of) ? of.map((one: unknown) => (isPlain(one) ? map(one) : one)) : of
  const untyped = ({ datatype: _, ...one }: Plain): Plain => one
  return {
    ...model,
    ...(model.metrics !== undefined && { metrics: each(model.metrics, untyped) }),
    datasets: each(model.datasets, (one) => ({
      ...one,
      ...(one.fields !== undefined && { fields: each(one.fields, untyped) }),
    })),
  }
}

/** Types whose values are a point in time by a date, which metrics can be told by. */
const dated: readonly string[] = ['Date', 'DateTime', 'DateTimeTz']
const types: readonly string[] = [
  ...dated,
  ...['String', 'Integer', 'Decimal', 'Float', 'Boolean', 'Time', 'Opaque'],
]

/** What a field's type says, in a version that has types. @param isTime as the field says itself, if it does */
export function timeByType(datatype: string | undefined, isTime: boolean | undefined) {
  const isTemporal = datatype === 'Time' || dated.includes(datatype ?? '')
  return {
    isUnknown: datatype !== undefined && !types.includes(datatype),
    isTime: isTime ?? isTemporal,
    /** Whether it is called a time, and its values are no dates. */
    isUndated: datatype !== undefined && types.includes(datatype) && !dated.includes(datatype),
  }
}
