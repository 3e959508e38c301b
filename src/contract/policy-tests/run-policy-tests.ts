/**
 * Runs the policy tests of a document: each gives a commit and says what the policies of its object must decide. Judged
 * are the policies that follow from the object, and those that the document holds; modes of the contract do not matter.
 */

import { Fault } from '../../base/fault.ts'
import { limits } from '../../limits.ts'
import { compilePolicy } from '../../policy/compile.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import { judgeOne } from '../../policy/judge-one.ts'
import { PolicyError } from '../../policy/policy-error.ts'
import { type GoverningSchema, governing } from '../../store/contract/put-in-force.ts'
import type { ContractModel, PolicyTest } from '../../wire/odcs/model.ts'
import { deriveRules } from '../commit/derive-policies.ts'
import { documentRules } from '../commit/document-policies.ts'
import { bindingsOf } from './fixture.ts'

interface PolicyTestResult {
  /** Of the object. */
  readonly object: string
  readonly name: string
  /** Why it failed, as a sentence without a full stop; absent where it passed. */
  readonly problem?: string
}

/** Milliseconds that an explanation may take. */
const explainMs = 50

interface Judged {
  readonly policy: string
  readonly message: string
}

/** The results of all tests, in their order. It never throws for what a test or a policy says. */
export function runPolicyTests(model: ContractModel): readonly PolicyTestResult[] {
  return governing(model).flatMap((schema) =>
    (schema.tests ?? []).map((test): PolicyTestResult => {
      const problem = problemOf(model, schema, test)
      return { object: schema.name, name: test.name, ...(problem !== undefined && { problem }) }
    }),
  )
}

/** Why a document may not be proposed: its first test that fails; undefined where all pass. */
export function testProblemOf({ failedTests: [first] = [] }: ContractModel): string | undefined {
  return first === undefined ? undefined : `A policy test fails: ${first}`
}

/** A failed test as a sentence without a full stop. */
export function describeFailure({ object, name, problem = '' }: PolicyTestResult): string {
  return `${object}, ${name}: ${problem}`
}

function problemOf(
  model: ContractModel,
  schema: GoverningSchema,
  { given, expect }: PolicyTest,
): string | undefined {
  try {
    const denial = firstDenial(model, schema, bindingsOf(schema, given))
    if (expect.decision === 'allow')
      return denial && `it must be allowed, and ${denial.policy} denied it: ${denial.message}`
    if (denial === undefined) return 'it must be denied, and no policy denied it'
    if (expect.policy !== undefined && expect.policy !== denial.policy)
      return `${expect.policy} must deny it, and ${denial.policy} did`
    if (expect.reason !== undefined && !denial.message.includes(expect.reason))
      return `the reason must say “${expect.reason}”, and says “${denial.message}”`
    return undefined
  } catch (thrown) {
    if (thrown instanceof Fault) return `the commit cannot be made: ${thrown.publicMessage}`
    if (thrown instanceof PolicyError) return `it could not be judged: ${thrown.message}`
    throw thrown
  }
}

/** @throws PolicyError where a policy gives no verdict, as it would refuse every commit */
function firstDenial(
  model: ContractModel,
  schema: GoverningSchema,
  bindings: PolicyBindings,
): Judged | undefined {
  const budget = { timeoutMs: limits.policyWorkerMs, ticksMax: limits.policyTicksMax }
  for (const { clause, mode, message, definitionCel } of [
    ...deriveRules(schema),
    ...documentRules(model, schema),
  ]) {
    const policy = clause.replace(/^(?:document-)?policy:/, '')
    const judged = judgeOne(compilePolicy(definitionCel), bindings, budget, explainMs)
    const { value, error, explanation = '' } = judged
    if (value === undefined)
      throw new PolicyError(error ?? 'ErrEvalPanic', `${policy} gives no verdict. ${explanation}`)
    if (value === false && mode === 'enforce')
      return { policy, message: [message, explanation].filter((one) => one !== '').join('. ') }
  }
  return undefined
}
