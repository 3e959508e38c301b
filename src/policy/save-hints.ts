/**
 * Finds mistakes in a policy's text that the compiler cannot know of: keys that `table` does not have, a list of fields
 * searched for a name, a key with a dash. It runs at save only, so that a saved policy goes on to compile.
 */

import { unparse } from '@bufbuild/cel'
import type { Expr, SourceInfo } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import type { PolicyProblem } from './policy-error.ts'
import { children } from './tree.ts'

/** What is known of a value: the keys of an object, or the elements of a list. */
interface Shape {
  readonly keys?: Readonly<Record<string, Shape>>
  readonly element?: Shape
}
type Scope = ReadonlyMap<string, Shape>

const unknown: Shape = {}

/** An object with these keys and no others. */
function keys(names: string, nested: Readonly<Record<string, Shape>> = {}): Shape {
  const plain = names.split(' ').map((name) => [name, unknown] as const)
  return { keys: { ...Object.fromEntries(plain), ...nested } }
}

const field = keys('id name required type doc initial-default write-default')
const schema = keys('type schema-id identifier-field-ids', { fields: { element: field } })
const partitionField = keys('source-id source-ids field-id name transform')
const partitionSpec = keys('spec-id', { fields: { element: partitionField } })
const snapshot = keys(
  'snapshot_id parent_snapshot_id sequence_number timestamp_ms summary manifest_list schema_id',
)
const table = keys('namespace name uuid location format_version sort_order refs properties last_updated_ms', {
  schema,
  schemas: { element: schema },
  partition_spec: partitionSpec,
  partition_specs: { element: partitionSpec },
  current_snapshot: snapshot,
  snapshots: { element: snapshot },
})
/** Keys of `commit` itself are checked by its static type. */
const commit: Shape = { keys: { result: table, identifier: keys('namespace name') } }
/** An element of `manifest.columns(table)`. */
const column = keys('path name id type required doc')
const bindings: Scope = new Map([
  ['table', table],
  ['commit', commit],
])

interface SaveHints {
  readonly problems: readonly PolicyProblem[]
  /** Better words for a problem at an offset. */
  readonly wordings: ReadonlyMap<number, string>
}

/** Looks through a parsed policy. The depth of `root` must be bounded. */
export function saveHints(root: Expr, sourceInfo: SourceInfo | undefined): SaveHints {
  const problems: PolicyProblem[] = []
  const wordings = new Map<number, string>()
  const offsetOf = ({ id }: Expr) => sourceInfo?.positions[String(id)] ?? 0

  function visit(expr: Expr, scope: Scope): void {
    const kind = expr.exprKind
    if (kind.case === 'selectExpr') unknownKey(expr, scope)
    if (kind.case === 'callExpr' && kind.value.function === '@in') namesInFields(expr, kind.value.args, scope)
    if (kind.case === 'callExpr' && kind.value.function === '_[_]') claimedKey(expr, kind.value.args)
    if (kind.case === 'callExpr' && kind.value.function === '_-_') dashedKey(kind.value.args, scope)
    if (kind.case !== 'comprehensionExpr') {
      for (const child of children(expr)) visit(child, scope)
      return
    }
    const { iterRange, iterVar } = kind.value
    if (iterRange !== undefined) visit(iterRange, scope)
    const inner = new Map(scope).set(iterVar, (iterRange && shapeOf(iterRange, scope)?.element) ?? unknown)
    for (const child of children(expr)) if (child !== iterRange) visit(child, inner)
  }

  function unknownKey(expr: Expr, scope: Scope): void {
    if (expr.exprKind.case !== 'selectExpr') return
    const { operand, field: name } = expr.exprKind.value
    const known = operand && shapeOf(operand, scope)?.keys
    if (operand === undefined || known === undefined || known === commit.keys) return
    if (Object.hasOwn(known, name)) return
    const message = `${unparse(operand)} has no key '${name}'; it has ${Object.keys(known).join(', ')}.`
    problems.push({ message, offset: offsetOf(expr) })
  }

  /** `"id" in table.schema.fields` is never true, because the list holds objects. */
  function namesInFields(expr: Expr, [name, list]: readonly Expr[], scope: Scope): void {
    const element = list && shapeOf(list, scope)?.element
    if (list === undefined || element?.keys === undefined || !isString(name)) return
    const searched = unparse(list)
    const better = /^(.+)\.(schema|partition_spec)\.fields$/.exec(searched)
    const call = better?.[2] === 'schema' ? 'has_column' : 'has_partition'
    const instead =
      better === null ? `${searched}.exists(x, …)` : `manifest.${call}(${better[1]}, ${unparse(name)})`
    const message = `${searched} holds objects, so a string is never in it. Write ${instead}.`
    problems.push({ message, offset: offsetOf(expr) })
  }

  /** Few writers name their engine in a snapshot's summary, and a key that is missing stops the commit. */
  function claimedKey(expr: Expr, [summary, key]: readonly Expr[]): void {
    const name = textOf(key)
    if (summary === undefined || name === undefined || !engineKeys.has(name)) return
    if (lastKey(summary)?.key !== 'summary' || asked.has(name)) return
    const held = unparse(summary)
    const quoted = JSON.stringify(name)
    const message = `Many writers leave ${quoted} out of a summary, and a missing key stops the commit. Write ${quoted} in ${held} && ${held}[${quoted}] …; it is a claim of the writer. commit.client.agent is there for every commit.`
    problems.push({ message, offset: offsetOf(expr) })
  }

  /** `u.snapshot-ids` is read as `u.snapshot` minus `ids`. */
  function dashedKey([left, right]: readonly Expr[], scope: Scope): void {
    const name = right && leadingName(right)
    const selected = left && lastKey(left)
    if (name === undefined || selected === undefined) return
    const dashed = `${selected.key}-${name.text}`
    const own = dashed.replaceAll('-', '_')
    const known = shapeOf(selected.operand, scope)?.keys ?? {}
    const operand = unparse(selected.operand)
    const instead = Object.hasOwn(known, own)
      ? `The key is written ${operand}.${own}.`
      : `A key with a dash is written ${operand}["${dashed}"].`
    wordings.set(offsetOf(name.expr), `There is no name '${name.text}'. ${instead}`)
  }

  const asked = keysAskedFor(root)
  visit(root, bindings)
  return { problems, wordings }
}

function shapeOf(expr: Expr, scope: Scope): Shape | undefined {
  const kind = expr.exprKind
  if (kind.case === 'identExpr') return scope.get(kind.value.name)
  if (kind.case === 'selectExpr') {
    const { operand, field: name, testOnly } = kind.value
    const known = testOnly || operand === undefined ? undefined : shapeOf(operand, scope)?.keys
    return known !== undefined && Object.hasOwn(known, name) ? known[name] : undefined
  }
  if (kind.case === 'callExpr' && kind.value.function === 'columns') return { element: column }
  if (kind.case !== 'callExpr' || kind.value.function !== '_[_]') return undefined
  const [operand] = kind.value.args
  return operand && shapeOf(operand, scope)?.element
}

/** Keys of a summary that name the engine. Iceberg's Java writes some of them, in Spark, Flink and Trino. */
const engineKeys: ReadonlySet<string> = new Set([
  'engine-name',
  'engine-version',
  'iceberg-version',
  'app-id',
  'spark.app.id',
])

/** The texts of which the policy asks whether something holds them. */
function keysAskedFor(expr: Expr): ReadonlySet<string> {
  const kind = expr.exprKind
  const own =
    kind.case === 'callExpr' && kind.value.function === '@in' ? textOf(kind.value.args[0]) : undefined
  return new Set([
    ...(own === undefined ? [] : [own]),
    ...children(expr).flatMap((child) => [...keysAskedFor(child)]),
  ])
}

function textOf(expr: Expr | undefined): string | undefined {
  if (expr?.exprKind.case !== 'constExpr') return undefined
  const { constantKind } = expr.exprKind.value
  return constantKind.case === 'stringValue' ? constantKind.value : undefined
}

function isString(expr: Expr | undefined): expr is Expr {
  return expr?.exprKind.case === 'constExpr' && expr.exprKind.value.constantKind.case === 'stringValue'
}

/** The name that an expression such as `ids`, `ids.size()` or `ids[0]` begins with. */
function leadingName(expr: Expr): { readonly expr: Expr; readonly text: string } | undefined {
  const kind = expr.exprKind
  if (kind.case === 'identExpr') return { expr, text: kind.value.name }
  if (kind.case === 'selectExpr') return kind.value.operand && leadingName(kind.value.operand)
  if (kind.case === 'comprehensionExpr') return kind.value.iterRange && leadingName(kind.value.iterRange)
  if (kind.case !== 'callExpr') return undefined
  const first = kind.value.target ?? (kind.value.function === '_[_]' ? kind.value.args[0] : undefined)
  return first && leadingName(first)
}

/** The selection at the end of `u.snapshot`, or of `u.last-column`, which is a difference already. */
function lastKey(expr: Expr): { readonly operand: Expr; readonly key: string } | undefined {
  const kind = expr.exprKind
  if (kind.case === 'selectExpr' && kind.value.operand !== undefined)
    return { operand: kind.value.operand, key: kind.value.field }
  if (kind.case !== 'callExpr' || kind.value.function !== '_-_') return undefined
  const [left, right] = kind.value.args
  const before = left && lastKey(left)
  if (before === undefined || right?.exprKind.case !== 'identExpr') return undefined
  return { operand: before.operand, key: `${before.key}-${right.exprKind.value.name}` }
}
