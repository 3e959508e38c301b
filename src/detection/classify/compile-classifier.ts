/**
 * Compiles the patterns of custom classifiers and bounds what they may cost. RE2 reads each character once for each
 * instruction at most, so characters times instructions is a bound that depends on no clock.
 */

import { RE2JS } from '@bufbuild/re2'
import type {
  ActiveClassifier,
  ClassifierCheck,
  ClassifierDefinition,
  ClassifierThresholds,
} from '../../core/classifier.ts'
import { classifierLimits, defaultThresholds } from '../../core/classifier.ts'

/** A pattern with what one character costs. */
export interface CompiledPattern {
  readonly regex: RE2JS
  readonly instructions: number
}

export interface CompiledClassifier {
  readonly name: string
  readonly names: readonly CompiledPattern[]
  readonly values: readonly {
    readonly pattern: CompiledPattern
    readonly checks: readonly ClassifierCheck[]
  }[]
  readonly inText: boolean
  readonly thresholds: Required<{ readonly [K in keyof ClassifierThresholds]: number }>
}

/** What matching may cost in all, in steps: characters times instructions. */
export class StepBudget {
  constructor(private left: number) {}

  /** @returns whether that much was left; once it was not, nothing is */
  take(pattern: CompiledPattern, text: string): boolean {
    this.left -= (text.length + 1) * pattern.instructions
    return this.left >= 0
  }

  get isSpent(): boolean {
    return this.left < 0
  }
}

/** Compiles a classifier that {@link definitionProblem} found nothing wrong with. */
export function compileClassifier({ name, definition }: ActiveClassifier): CompiledClassifier {
  const { names = [], values = [], in_text: inText = false, thresholds = {} } = definition
  const given = Object.entries(thresholds).filter(([, value]) => value !== undefined)
  return {
    name,
    names: names.map(compilePattern),
    values: values.map(({ pattern, checks = [] }) => ({ pattern: compilePattern(pattern), checks })),
    inText,
    thresholds: { ...defaultThresholds, ...Object.fromEntries(given) },
  }
}

/** What is wrong with a definition, in a sentence; undefined if nothing is. */
export function definitionProblem({ names = [], values = [] }: ClassifierDefinition): string | undefined {
  if (names.length + values.length === 0) return 'A classifier needs a pattern of names or of values.'
  for (const pattern of [...names, ...values.map((value) => value.pattern)]) {
    const problem = patternProblem(pattern)
    if (problem !== undefined) return problem
  }
  return values
    .flatMap(({ checks = [] }) => checks)
    .map(checkProblem)
    .find((problem) => problem !== undefined)
}

/** Repetitions are bounded before compiling, because the compiler writes out each. */
function patternProblem(pattern: string): string | undefined {
  const { patternCharsMax, instructionsMax } = classifierLimits
  if (pattern.length > patternCharsMax) return `A pattern has ${patternCharsMax} characters at most.`
  const counts = [...pattern.matchAll(/\{\d*,?(\d+)?\}|\{(\d+)/g)].map(([repeat]) =>
    Math.max(...(repeat.match(/\d+/g) ?? ['0']).map(Number)),
  )
  const tooLarge = `A pattern compiles to ${instructionsMax} instructions at most; repeat less in ${pattern}.`
  if (counts.reduce((sum, count) => sum + count, 0) > instructionsMax) return tooLarge
  try {
    const { regex, instructions } = compilePattern(pattern)
    if (instructions > instructionsMax) return tooLarge
    return regex.test('') ? `A pattern must not match the empty text: ${pattern}.` : undefined
  } catch (thrown) {
    return `This is not an RE2 pattern: ${thrown instanceof Error ? thrown.message : String(thrown)}.`
  }
}

function checkProblem({ kind, weights, ten, alphabet }: ClassifierCheck): string | undefined {
  const needsWeights = kind === 'mod10' || kind === 'mod11' || kind === 'mod11_digit'
  if (needsWeights !== (weights !== undefined && weights.length > 0))
    return `The check ${kind} ${needsWeights ? 'needs' : 'takes no'} weights.`
  if (ten !== undefined && kind !== 'mod11_digit') return `The check ${kind} takes no member ten.`
  if ((kind === 'letter') !== (alphabet !== undefined))
    return `The check ${kind} ${kind === 'letter' ? 'needs an' : 'takes no'} alphabet.`
  return undefined
}

function compilePattern(pattern: string): CompiledPattern {
  const regex = RE2JS.compile(pattern)
  // The wrapper tells no size of its own.
  const { prog } = regex.re2() as unknown as { readonly prog: { numInst(): number } }
  return { regex, instructions: prog.numInst() }
}
