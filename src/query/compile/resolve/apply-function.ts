/** Finds what engines have for the function that PostgreSQL chooses, and gives it its arguments. */

import { isArray, type SqlType } from '../../../core/sql-type.ts'
import type { FunctionDef } from '../base/function-definition.ts'
import type { CallExpr, Expr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { convertsImplicitly, spokenType } from '../base/types.ts'
import { servedNamed } from './candidate-choice.ts'
import { arrayAs, coerce } from './coerce.ts'
import { chooseFunction } from './function-choice.ts'
import { absent, bindArguments, type Callable, type Match, pickOverload, returnType } from './overload.ts'

/** A call in messages, as `upper(integer)`. */
function spokenCall(name: string, args: readonly Expr[]): string {
  return `function ${name}(${args.map((arg) => spokenType(arg.type)).join(', ')})`
}

interface Chosen {
  /** The types of PostgreSQL's function; undefined for one that is not served. */
  readonly operands: readonly (SqlType | undefined)[]
  /** Undefined for a type that is served as another. */
  readonly result: SqlType | undefined
}

/**
 * The types of the function that PostgreSQL chooses.
 *
 * @returns undefined for a function that PostgreSQL has not
 * @throws SqlError 42883, 42725, 42804 or 42704 where it chooses none
 */
function chosenTypes(name: string, args: readonly Expr[], position?: number): Chosen | undefined {
  const choice = chooseFunction(
    name,
    args.map(({ type }) => type),
  )
  if (choice === undefined) return undefined
  if (choice === 'none') throw absent(spokenCall(name, args), position)
  if (choice === 'ambiguous') throw ambiguous(spokenCall(name, args), position)
  if ('missing' in choice) {
    if (choice.missing === 'array')
      throw new SqlError('42704', `could not find array type for data type ${choice.of}`, position)
    const message = 'could not determine polymorphic type because input has type unknown'
    throw new SqlError('42804', message, position)
  }
  const operands = choice.operands.map((each, index) =>
    each === 'unknown' ? args[index]?.type : servedNamed(each),
  )
  return { operands, result: servedNamed(choice.result) }
}

function ambiguous(spoken: string, position?: number): SqlError {
  const hint = 'Could not choose a best candidate function. You might need to add explicit type casts.'
  return new SqlError('42725', `${spoken} is not unique`, position, { hint })
}

/** An argument as a type to which PostgreSQL converts it; undefined where that is not served. */
function argumentAs(arg: Expr, type: SqlType): Expr | undefined {
  if (arg.type === 'unknown' || arg.type === type) return coerce(arg, type)
  if (!isArray(arg.type) || !isArray(type))
    return convertsImplicitly(arg.type, type) ? coerce(arg, type) : undefined
  return arrayAs(arg, type)
}

/**
 * The overload of the engines and its arguments.
 *
 * @param adapt changes arguments for the engines after the choice
 * @throws SqlError as chosenTypes; 0A000 where no engine has the function, or of a type that is not served
 */
export function matchFunction<D extends Callable>(
  name: string,
  defs: readonly D[],
  args: readonly Expr[],
  position?: number,
  adapt: (args: readonly Expr[]) => readonly Expr[] = (same) => same,
): { readonly match: Match<D>; readonly args: readonly Expr[] } {
  const chosen = chosenTypes(name, args, position)
  const typesOf = (list: readonly Expr[]) => list.map(({ type }) => type)
  if (chosen === undefined) {
    const adapted = adapt(args)
    const match = pickOverload(defs, typesOf(adapted))
    if (match === undefined) throw absent(spokenCall(name, args), position)
    return { match, args: adapted }
  }
  const { operands, result } = chosen
  const refused = () => notSupported(spokenCall(name, args).replace('function', 'The function'), position)
  const typeAt = (index: number) => {
    const type = args[index]?.type
    return type === 'unknown' ? operands[index] : type
  }
  // What engines do with the arguments as they are needs no conversion.
  const own = defs.filter(
    (def) =>
      def.args.length === args.length &&
      def.args.every((type, index) => type === typeAt(index)) &&
      (result === undefined || def.returns === result),
  )
  const given = args.map((arg, index) => {
    const type = own.length > 0 ? typeAt(index) : operands[index]
    const converted = type && argumentAs(arg, type)
    if (converted === undefined) throw refused()
    return converted
  })
  const adapted = own.length > 0 ? given : adapt(given)
  const match = pickOverload(own.length > 0 ? own : defs, typesOf(adapted))
  if (match === undefined || (result !== undefined && returnType(match.def, match) !== result))
    throw refused()
  return { match, args: adapted }
}

/** A call of a function. @throws SqlError as matchFunction */
export function applyFunction(
  name: string,
  defs: readonly FunctionDef[] | undefined,
  args: readonly Expr[],
  position?: number,
  adapt?: (args: readonly Expr[]) => readonly Expr[],
): CallExpr {
  if (defs === undefined) throw absent(spokenCall(name, args), position)
  const { match, args: given } = matchFunction(name, defs, args, position, adapt)
  const { def } = match
  return { kind: 'call', def, args: bindArguments(def, match, given, def.name), type: returnType(def, match) }
}
