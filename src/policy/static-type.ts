/**
 * Infers the type of a CEL expression and checks its names without running it, because the library exports no checker.
 * JSON bindings are dynamic, so most types are `dyn`. Literals, operators and functions have definite types.
 */

import type { CelFunc, CelType } from '@bufbuild/cel'
import type { Expr, SourceInfo } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { int64Max, int64Min, uint64Max } from '../base/int64.ts'
import { environment, regexProblem } from './environment.ts'
import { asksManifest } from './manifest-facts.ts'
import type { PolicyProblem } from './policy-error.ts'

type StaticType =
  | 'dyn'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'list'
  | 'map'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'message'

type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value']
type Comprehension = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value']
type Scope = ReadonlyMap<string, StaticType>

const bindings: Scope = new Map([
  ['table', 'dyn'],
  ['commit', 'map'],
  ['principal', 'map'],
])

/** The keys that a policy may read by `.key`. Any other key would be missing at every commit. */
const bindingFields: Readonly<Record<string, ReadonlyMap<string, StaticType>>> = {
  commit: new Map([
    ['identifier', 'map'],
    ['requirements', 'list'],
    ['updates', 'list'],
    ['result', 'dyn'],
    ['received_at', 'int'],
    ['session', 'map'],
    ['client', 'map'],
    ['branch', 'string'],
  ]),
  principal: new Map([
    ['sub', 'string'],
    ['email', 'string'],
    ['roles', 'list'],
  ]),
}

/** CEL's own type denotations, for `type(x) == string`. */
const typeNames = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
])

const accumulator = '@result'
const numeric: ReadonlySet<StaticType> = new Set(['int', 'uint', 'double'])

/** Returns the type of `expr` and all its problems. The depth of `expr` must be bounded. */
export function inferType(
  expr: Expr,
  sourceInfo: SourceInfo | undefined,
): { readonly type: StaticType; readonly problems: readonly PolicyProblem[] } {
  const inference = new Inference(sourceInfo)
  return { type: inference.infer(expr, bindings), problems: inference.problems }
}

/** Walks one tree and collects its problems. */
class Inference {
  readonly problems: PolicyProblem[] = []

  constructor(private readonly sourceInfo: SourceInfo | undefined) {}

  infer(expr: Expr | undefined, scope: Scope): StaticType {
    const kind = expr?.exprKind
    if (expr === undefined || kind === undefined) return 'dyn'
    switch (kind.case) {
      case 'constExpr':
        return this.constant(expr, kind.value.constantKind)
      case 'identExpr':
        return this.identifier(expr, kind.value.name, scope)
      case 'selectExpr': {
        const { operand, field, testOnly } = kind.value
        const type = this.infer(operand, scope)
        const selected = this.select(expr, operand, field, type)
        return testOnly ? 'bool' : selected
      }
      case 'callExpr':
        return this.call(expr, kind.value, scope)
      case 'listExpr':
        if (kind.value.optionalIndices.length > 0)
          this.problem(expr, 'Optional list elements are not supported.')
        for (const element of kind.value.elements) this.infer(element, scope)
        return 'list'
      case 'structExpr':
        if (kind.value.messageName !== '')
          this.problem(expr, `Policies cannot build messages ('${kind.value.messageName}').`)
        for (const { keyKind, value, optionalEntry } of kind.value.entries) {
          if (optionalEntry) this.problem(expr, 'Optional map entries are not supported.')
          if (keyKind.case === 'mapKey') this.mapKey(keyKind.value, scope)
          this.infer(value, scope)
        }
        return 'map'
      case 'comprehensionExpr':
        return this.comprehension(expr, kind.value, scope)
      default:
        this.problem(expr, 'This expression is not complete.')
        return 'dyn'
    }
  }

  private constant(
    expr: Expr,
    constant: Extract<Expr['exprKind'], { case: 'constExpr' }>['value']['constantKind'],
  ): StaticType {
    switch (constant.case) {
      case 'boolValue':
        return 'bool'
      case 'int64Value':
        if (constant.value < int64Min || constant.value > int64Max)
          this.problem(expr, `${constant.value} does not fit a 64-bit integer.`)
        return 'int'
      case 'uint64Value':
        if (constant.value < 0n || constant.value > uint64Max)
          this.problem(expr, `${constant.value}u does not fit an unsigned 64-bit integer.`)
        return 'uint'
      case 'doubleValue':
        return 'double'
      case 'stringValue':
        return 'string'
      case 'bytesValue':
        return 'bytes'
      case 'nullValue':
        return 'null'
      default:
        this.problem(expr, 'This literal is not supported.')
        return 'dyn'
    }
  }

  private identifier(expr: Expr, name: string, scope: Scope): StaticType {
    const type = scope.get(name)
    if (type !== undefined) return type
    if (typeNames.has(name)) return 'type'
    this.problem(expr, `There is no name '${name}'; a policy reads table, commit and principal.`)
    return 'dyn'
  }

  private select(expr: Expr, operand: Expr | undefined, field: string, type: StaticType): StaticType {
    if (type !== 'dyn' && type !== 'map') {
      this.problem(expr, `A ${type} has no field '${field}'.`)
      return 'dyn'
    }
    const name = operand?.exprKind.case === 'identExpr' ? operand.exprKind.value.name : ''
    if (!Object.hasOwn(bindingFields, name)) return 'dyn'
    const fields = bindingFields[name]
    const fieldType = fields?.get(field)
    if (fieldType === undefined)
      this.problem(expr, `${name} has no key '${field}'; it has ${[...(fields?.keys() ?? [])].join(', ')}.`)
    return fieldType ?? 'dyn'
  }

  private mapKey(key: Expr, scope: Scope): void {
    const type = this.infer(key, scope)
    if (!['dyn', 'string', 'int', 'uint', 'bool'].includes(type))
      this.problem(key, `A ${type} cannot be a map key.`)
  }

  private comprehension(expr: Expr, fold: Comprehension, scope: Scope): StaticType {
    const range = this.infer(fold.iterRange, scope)
    if (range !== 'dyn' && range !== 'list' && range !== 'map')
      this.problem(expr, `A ${range} cannot be iterated.`)
    if (bindings.has(fold.iterVar) || typeNames.has(fold.iterVar))
      this.problem(expr, `'${fold.iterVar}' is reserved: give the loop variable another name.`)
    const accu = this.infer(fold.accuInit, scope)
    const inner = new Map(scope).set(fold.iterVar, 'dyn').set(accumulator, accu)
    this.infer(fold.loopCondition, inner)
    this.infer(fold.loopStep, inner)
    return this.infer(fold.result, new Map(scope).set(accumulator, accu))
  }

  private call(expr: Expr, call: Call, scope: Scope): StaticType {
    const qualified = qualifiedName(call)
    if (qualified !== undefined) {
      if (asksManifest(expr) && !isCommit(call.args[0])) this.problem(expr, `${qualified} takes \`commit\`.`)
      const args = call.args.map((arg) => this.infer(arg, scope))
      return this.overload(expr, qualified, undefined, args)
    }
    const target = call.target === undefined ? undefined : this.infer(call.target, scope)
    const args = call.args.map((arg) => this.infer(arg, scope))
    switch (call.function) {
      case '_&&_':
      case '_||_':
        for (const [index, type] of args.entries()) this.requireBool(call.args[index] ?? expr, type)
        return 'bool'
      case '@not_strictly_false':
        return 'bool'
      case '_?_:_':
        this.requireBool(call.args[0] ?? expr, args[0] ?? 'dyn')
        return args[1] !== undefined && args[1] === args[2] ? args[1] : 'dyn'
      case '_[_]':
        this.index(expr, args[0] ?? 'dyn', args[1] ?? 'dyn')
        return 'dyn'
      case '_==_':
      case '_!=_':
        this.comparable(expr, args[0] ?? 'dyn', args[1] ?? 'dyn')
        return 'bool'
      case 'matches':
        this.regex(call.args.at(-1))
    }
    return this.overload(expr, call.function, target, args)
  }

  private overload(
    expr: Expr,
    name: string,
    target: StaticType | undefined,
    args: readonly StaticType[],
  ): StaticType {
    const overloads = [...(environment.funcs.find(name) ?? [])]
    if (overloads.length === 0) {
      this.problem(expr, unknownFunction(name))
      return 'dyn'
    }
    const ofForm = overloads.filter((func) => (func.target === undefined) === (target === undefined))
    const ofArity = ofForm.filter((func) => func.arguments.length === args.length)
    if (ofArity.length === 0) {
      const counts = [...new Set(ofForm.map((func) => func.arguments.length))].sort((a, b) => a - b)
      const wanted =
        ofForm.length === 0 ? 'is not called in this form' : `takes ${counts.join(' or ')} argument(s)`
      this.problem(expr, `${display(name)} ${wanted}, not ${args.length}.`)
      return 'dyn'
    }
    const fitting = ofArity.filter((func) => fits(func, target, args))
    if (fitting.length === 0) {
      const given = target === undefined ? args.join(', ') : `${target}.(${args.join(', ')})`
      this.problem(expr, `${display(name)} cannot be applied to ${given}.`)
    }
    const results = new Set((fitting.length === 0 ? ofArity : fitting).map((func) => staticType(func.result)))
    const [only] = results
    return results.size === 1 && only !== undefined ? only : 'dyn'
  }

  private requireBool(expr: Expr, type: StaticType): void {
    if (type !== 'bool' && type !== 'dyn') this.problem(expr, `A bool is needed here, not ${type}.`)
  }

  private index(expr: Expr, container: StaticType, key: StaticType): void {
    if (container !== 'dyn' && container !== 'list' && container !== 'map')
      this.problem(expr, `A ${container} cannot be indexed.`)
    else if (container === 'list' && key !== 'dyn' && !numeric.has(key))
      this.problem(expr, `A list is indexed by an int, not by a ${key}.`)
  }

  private comparable(expr: Expr, left: StaticType, right: StaticType): void {
    if (left === right || left === 'dyn' || right === 'dyn' || left === 'null' || right === 'null') return
    if (numeric.has(left) && numeric.has(right)) return
    this.problem(expr, `A ${left} never equals a ${right}.`)
  }

  private regex(pattern: Expr | undefined): void {
    if (pattern?.exprKind.case !== 'constExpr') return
    const { constantKind } = pattern.exprKind.value
    if (constantKind.case !== 'stringValue') return
    const wrong = regexProblem(constantKind.value)
    if (wrong !== undefined) this.problem(pattern, `This is not an RE2 pattern: ${wrong}.`)
  }

  private problem(expr: Expr, message: string): void {
    this.problems.push({ message, offset: this.sourceInfo?.positions[String(expr.id)] ?? 0 })
  }
}

/** `manifest.has_column` for `manifest.has_column(…)`, if there is such a function, as the planner resolves it. */
function qualifiedName(call: Call): string | undefined {
  const path = dottedPath(call.target)
  if (path === undefined) return undefined
  const name = `${path}.${call.function}`
  // `manifest` and `transform` are no values, so everything called on them is a function. A typo is then reported with its full name.
  return environment.funcs.find(name) !== undefined || path === 'manifest' || path === 'transform'
    ? name
    : undefined
}

function isCommit(expr: Expr | undefined): boolean {
  return expr?.exprKind.case === 'identExpr' && expr.exprKind.value.name === 'commit'
}

function dottedPath(expr: Expr | undefined): string | undefined {
  if (expr?.exprKind.case === 'identExpr') return expr.exprKind.value.name
  if (expr?.exprKind.case !== 'selectExpr' || expr.exprKind.value.testOnly) return undefined
  const parent = dottedPath(expr.exprKind.value.operand)
  return parent === undefined ? undefined : `${parent}.${expr.exprKind.value.field}`
}

function fits(func: CelFunc, target: StaticType | undefined, args: readonly StaticType[]): boolean {
  if (target !== undefined && func.target !== undefined && !assignable(target, func.target)) return false
  return func.arguments.every((parameter, index) => assignable(args[index] ?? 'dyn', parameter))
}

function assignable(given: StaticType, parameter: CelType): boolean {
  const wanted = staticType(parameter)
  return given === 'dyn' || wanted === 'dyn' || given === wanted
}

function staticType(type: CelType): StaticType {
  if (type.kind === 'list' || type.kind === 'map') return type.kind
  if (type.kind === 'object') {
    if (type.name === 'google.protobuf.Timestamp') return 'timestamp'
    return type.name === 'google.protobuf.Duration' ? 'duration' : 'message'
  }
  return type.scalar === 'null_type' ? 'null' : type.scalar
}

const macros: Readonly<Record<string, string>> = {
  not: 'CEL writes !x where other languages write not x',
  has: 'has() takes one field selection, such as has(table.properties.owner)',
  all: 'all() takes a variable and a condition, such as list.all(x, x > 0)',
  exists: 'exists() takes a variable and a condition, such as list.exists(x, x > 0)',
  exists_one: 'exists_one() takes a variable and a condition',
  filter: 'filter() takes a variable and a condition',
  map: 'map() takes a variable, an optional condition and a result',
}

function unknownFunction(name: string): string {
  const usage = Object.hasOwn(macros, name) ? macros[name] : undefined
  return usage === undefined ? `There is no function '${display(name)}'.` : `${usage}.`
}

/** `_+_` as `+`, `@in` as `in`. */
function display(name: string): string {
  return name.replace(/^@/, '').replaceAll('_', name.startsWith('_') || name.endsWith('_') ? '' : '_')
}
