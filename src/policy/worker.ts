/**
 * Runs in the worker thread: evaluates policies that take too long for the HTTP thread, and parses long ones. It has
 * its own compiled programs, and only plain data is exchanged.
 */

import { parentPort } from 'node:worker_threads'
import { Lru } from '../base/lru.ts'
import type { PolicyErrorCode } from '../core/decision.ts'
import { parsePolicy } from './check.ts'
import { type CompiledPolicy, compilePolicy, problemText } from './compile.ts'
import { judgeOne } from './judge-one.ts'
import { PolicyError } from './policy-error.ts'
import type {
  PolicyResult,
  PolicyWorkerMessage,
  PolicyWorkerRequest,
  PolicyWorkerResult,
  WorkerTask,
} from './worker-protocol.ts'

/** More than on the HTTP thread, because a worker that has just started is slow, and only its task waits. */
const explainMs = 200
const programs = new Lru<string, { readonly text: string; readonly compiled: CompiledPolicy }>(1_000)

function compiledProgram(id: string, text: string): CompiledPolicy {
  const cached = programs.get(id)
  if (cached?.text === text) return cached.compiled
  const compiled = compilePolicy(text)
  programs.set(id, { text, compiled })
  return compiled
}

function evaluate(task: Extract<WorkerTask, { kind: 'evaluate' }>): PolicyWorkerResult {
  const endsAt = performance.now() + task.timeoutMs
  const results: PolicyResult[] = []
  for (const { id, text } of task.policies) {
    const result = evaluateOne(id, text, task, endsAt)
    results.push(result)
    if (task.stopAtFirst && result.value !== true) break
  }
  return { kind: 'evaluated', results }
}

function evaluateOne(
  id: string,
  text: string,
  task: Extract<WorkerTask, { kind: 'evaluate' }>,
  endsAt: number,
): PolicyResult {
  try {
    const compiled = compiledProgram(id, text)
    const timeoutMs = Math.ceil(endsAt - performance.now())
    if (timeoutMs < 1) return { error: 'ErrPolicyTimeout' }
    return judgeOne(compiled, task.bindings, { timeoutMs, ticksMax: task.ticksMax }, explainMs)
  } catch (thrown) {
    return { error: errorCode(thrown) }
  }
}

function errorCode(thrown: unknown): PolicyErrorCode {
  return thrown instanceof PolicyError ? thrown.code : 'ErrEvalPanic'
}

function perform(task: WorkerTask): PolicyWorkerResult {
  if (task.kind === 'evaluate') return evaluate(task)
  try {
    const policy = parsePolicy(task.text)
    if (policy.problems === undefined) return { kind: 'parsed', policy }
    return { kind: 'refused', error: 'ErrPolicyCompile', explanation: problemText(policy.problems) }
  } catch (thrown) {
    return { kind: 'refused', error: errorCode(thrown) }
  }
}

function send(message: PolicyWorkerMessage): void {
  parentPort?.postMessage(message)
}

parentPort?.on('message', ({ jobId, task }: PolicyWorkerRequest) => {
  send({ kind: 'result', jobId, result: perform(task) })
})
send({ kind: 'ready' })
