/**
 * Tells from a policy's tree what it reads of a table, as far as the requirements of Iceberg REST can pin it. Pure, and
 * fails closed: an expression that is not understood here counts as one that nothing can pin.
 */

import type { Expr } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { askedFunction } from './manifest-facts.ts'
import { children } from './tree.ts'

/** What policies read of `table` and of `commit.result`. */
export interface PolicyReads {
  /** The first member that no requirement pins, as a policy would write it. Absent where all can be pinned. */
  readonly unpinnable?: string
  /** The current schema, the default partition spec and the default sort order, of either. */
  readonly definitions: ReadonlySet<Definition>
  /** Branches and tags of `table` whose snapshot is read. The current snapshot is that of `main`. */
  readonly refs: ReadonlySet<string>
  /** The same of `commit.result`. */
  readonly resultRefs: ReadonlySet<string>
}

export type Definition = 'schema' | 'partition_spec' | 'sort_order'

/** What all of the policies read together. */
export function allReads(every: readonly PolicyReads[]): PolicyReads {
  const unpinnable = every.find((one) => one.unpinnable !== undefined)?.unpinnable
  const join = <T>(of: (one: PolicyReads) => ReadonlySet<T>) => new Set(every.flatMap((one) => [...of(one)]))
  return {
    ...(unpinnable !== undefined && { unpinnable }),
    definitions: join(({ definitions }) => definitions),
    refs: join(({ refs }) => refs),
    resultRefs: join(({ resultRefs }) => resultRefs),
  }
}

/** The members of `commit` that are the writer's own request. */
const requested: ReadonlySet<string> = new Set([
  'requirements',
  'updates',
  'identifier',
  'received_at',
  'session',
  'client',
  'branch',
])
/** The members of a table that stay the same as long as its name and uuid do. */
const identity: ReadonlySet<string> = new Set(['namespace', 'name', 'uuid'])
const definitions: ReadonlySet<string> = new Set<Definition>(['schema', 'partition_spec', 'sort_order'])
/** Names that are no value of the table. `manifest` and `transform` are only first parts of functions' names. */
const harmless: ReadonlySet<string> = new Set([
  'principal',
  'manifest',
  'transform',
  ...['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type'],
])

/** How many leading operands of a function are tables, and what it reads of each. */
const tableFunctions: ReadonlyMap<string, { readonly tables: number; readonly reads: Definition }> = new Map([
  ['has_column', { tables: 1, reads: 'schema' }],
  ['columns', { tables: 1, reads: 'schema' }],
  ['column_type', { tables: 1, reads: 'schema' }],
  ['is_required', { tables: 1, reads: 'schema' }],
  ['is_identifier', { tables: 1, reads: 'schema' }],
  ['is_same_column', { tables: 2, reads: 'schema' }],
  ['has_partition', { tables: 1, reads: 'partition_spec' }],
])

/** What a checked policy reads. The depth of `root` must be bounded. */
export function readsOf(root: Expr): PolicyReads {
  const walk = new Walk()
  walk.visit(root, new Set())
  return walk.found()
}

/** A chain of keys from `table` or `commit`. */
interface Path {
  readonly root: 'table' | 'commit'
  readonly keys: readonly string[]
  /** Whether `has()` asks for the last key. */
  readonly tested: boolean
}

class Walk {
  #unpinnable: string | undefined
  readonly #definitions = new Set<Definition>()
  readonly #refs = { table: new Set<string>(), 'commit.result': new Set<string>() }

  found(): PolicyReads {
    return {
      ...(this.#unpinnable !== undefined && { unpinnable: this.#unpinnable }),
      definitions: this.#definitions,
      refs: this.#refs.table,
      resultRefs: this.#refs['commit.result'],
    }
  }

  visit(expr: Expr, scope: ReadonlySet<string>): void {
    const path = pathOf(expr)
    if (path !== undefined) {
      this.#readPath(path)
      return
    }
    const kind = expr.exprKind
    switch (kind.case) {
      case 'constExpr':
        return
      case 'identExpr':
        if (!harmless.has(kind.value.name) && !scope.has(kind.value.name)) this.#cannotPin(kind.value.name)
        return
      case 'callExpr': {
        const asked = askedFunction(expr)
        if (asked !== undefined) this.#cannotPin(`${asked}(commit)`)
        else for (const child of this.#withoutTables(expr)) this.visit(child, scope)
        return
      }
      case 'comprehensionExpr': {
        const { iterVar, iterVar2, accuVar } = kind.value
        const inner = new Set([...scope, iterVar, iterVar2, accuVar])
        for (const child of children(expr)) this.visit(child, child === kind.value.iterRange ? scope : inner)
        return
      }
      case 'selectExpr':
      case 'listExpr':
      case 'structExpr':
        for (const child of children(expr)) this.visit(child, scope)
        return
      default:
        this.#cannotPin('an expression')
    }
  }

  /** The operands of a call that remain once those which name a table were read. */
  #withoutTables(expr: Expr): readonly Expr[] {
    if (expr.exprKind.case !== 'callExpr') return children(expr)
    const { target, function: name, args } = expr.exprKind.value
    const [left, right] = args
    if (target === undefined && name === '@in') {
      const key = textOf(left)
      const path = pathOf(right)
      if (key === undefined || path === undefined) return args
      // Whether a map has a key is what `has()` asks.
      this.#readPath({ ...path, keys: [...path.keys, key], tested: true })
      return []
    }
    // A commit always has a result.
    if (target === undefined && (name === '_==_' || name === '_!=_') && args.some(isNull))
      return args.filter((arg) => !isResult(pathOf(arg)))
    const known = target && isIdent(target, 'manifest') ? tableFunctions.get(name) : undefined
    if (known === undefined) return children(expr)
    return args.filter((arg, index) => {
      if (index >= known.tables || !isTable(pathOf(arg))) return true
      this.#definitions.add(known.reads)
      return false
    })
  }

  #readPath({ root, keys, tested }: Path): void {
    const [first, ...rest] = keys
    if (root === 'table') this.#readTable('table', keys, tested)
    else if (first === undefined) this.#cannotPin('commit')
    else if (first === 'result' && (rest.length > 0 || !tested))
      this.#readTable('commit.result', rest, tested)
    else if (first !== 'result' && !requested.has(first)) this.#cannotPin(`commit.${first}`)
  }

  #readTable(root: 'table' | 'commit.result', keys: readonly string[], tested: boolean): void {
    const [first, second, third] = keys
    // A requirement compares the snapshot of a ref, and neither its type nor how long it is kept.
    const isSnapshotOfRef = third === 'snapshot_id' || (third === undefined && tested)
    if (first === undefined) this.#cannotPin(root)
    else if (isDefinition(first)) this.#definitions.add(first)
    else if (first === 'current_snapshot') this.#refs[root].add('main')
    else if (first === 'refs' && second !== undefined && isSnapshotOfRef) this.#refs[root].add(second)
    else if (!identity.has(first)) this.#cannotPin(`${root}.${first}`)
  }

  #cannotPin(member: string): void {
    this.#unpinnable ??= member
  }
}

function pathOf(expr: Expr | undefined): Path | undefined {
  const kind = expr?.exprKind
  if (kind?.case === 'identExpr') {
    const { name } = kind.value
    return name === 'table' || name === 'commit' ? { root: name, keys: [], tested: false } : undefined
  }
  if (kind?.case === 'selectExpr') {
    const { operand, field, testOnly } = kind.value
    return longer(pathOf(operand), field, testOnly)
  }
  if (kind?.case !== 'callExpr' || kind.value.function !== '_[_]' || kind.value.target !== undefined)
    return undefined
  const [operand, index] = kind.value.args
  return longer(pathOf(operand), textOf(index), false)
}

function longer(path: Path | undefined, key: string | undefined, tested: boolean): Path | undefined {
  return path === undefined || key === undefined || path.tested
    ? undefined
    : { root: path.root, keys: [...path.keys, key], tested }
}

function isDefinition(key: string): key is Definition {
  return definitions.has(key)
}

function isResult(path: Path | undefined): boolean {
  return path?.root === 'commit' && path.keys.length === 1 && path.keys[0] === 'result'
}

function isTable(path: Path | undefined): boolean {
  return (
    path !== undefined &&
    !path.tested &&
    (isResult(path) || (path.root === 'table' && path.keys.length === 0))
  )
}

function isIdent({ exprKind }: Expr, name: string): boolean {
  return exprKind.case === 'identExpr' && exprKind.value.name === name
}

function isNull({ exprKind }: Expr): boolean {
  return exprKind.case === 'constExpr' && exprKind.value.constantKind.case === 'nullValue'
}

function textOf(expr: Expr | undefined): string | undefined {
  if (expr?.exprKind.case !== 'constExpr') return undefined
  const { constantKind } = expr.exprKind.value
  return constantKind.case === 'stringValue' ? constantKind.value : undefined
}
