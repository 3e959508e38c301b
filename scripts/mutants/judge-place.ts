/**
 * Makes one fault in a copy of the tree and says whether a test notices. A test that fails without any fault is not
 * asked. Prints nothing.
 */

import type { Matching } from './matching-tests.ts'
import type { TreeCopy } from './tree-copy.ts'

/** `killed`: a test fails, or does not end. `refused`: all tests pass, and the compiler does not take it. */
export type Verdict = 'killed' | 'refused' | 'survived'

/** How long tests may take beyond what they are known to take. */
const slack = 3
const slackMs = 60_000
/** Milliseconds of the tests that are asked first, because they notice most faults. */
const nearMs = 5_000

export class Judge {
  readonly #copy: TreeCopy
  /** Whether a test file passes without a fault, for those of which it was asked. */
  readonly #passes = new Map<string, boolean>()

  constructor(copy: TreeCopy) {
    this.#copy = copy
  }

  /** Test files that fail without any fault. */
  get red(): readonly string[] {
    return [...this.#passes].filter(([, passes]) => !passes).map(([path]) => path)
  }

  /** The verdict over a fault that no test noticed. */
  async judgeUnnoticed(fault: FaultyFile): Promise<Verdict> {
    const compiles = await this.#with(fault, () => this.#copy.compiles())
    return compiles ? 'survived' : 'refused'
  }

  /**
   * Whether one of these tests fails, or does not end. Most pass, so that they are asked whether they pass without the
   * fault only when they fail with it.
   * @param fault the text of the whole file with the fault in it; `original` is put back
   */
  async isNoticed(fault: FaultyFile, tests: readonly Matching[]): Promise<boolean> {
    const asked = tests.filter(({ path }) => this.#passes.get(path) !== false)
    if (asked.length === 0 || (await this.#with(fault, () => this.#passTogether(asked)))) return false
    const doubtful = asked.filter(({ path }) => !this.#passes.has(path))
    if (doubtful.length === 0) return true
    if (await this.#passTogether(doubtful)) {
      for (const { path } of doubtful) this.#passes.set(path, true)
      return true
    }
    for (const one of doubtful) this.#passes.set(one.path, await this.#passTogether([one]))
    return this.isNoticed(fault, asked)
  }

  async #passTogether(tests: readonly Matching[]): Promise<boolean> {
    const expectedMs = tests.reduce((sum, { ms }) => sum + ms, 0)
    const paths = tests.map(({ path }) => path)
    return (await this.#copy.test(paths, expectedMs * slack + slackMs)) === 'passed'
  }

  async #with<T>({ path, text, original }: FaultyFile, run: () => Promise<T>): Promise<T> {
    this.#copy.write(path, text)
    try {
      return await run()
    } finally {
      this.#copy.write(path, original)
    }
  }
}

export interface FaultyFile {
  readonly path: string
  readonly text: string
  readonly original: string
}

/**
 * The tests that take little time, and all others.
 * @param startsMuch whether a test opens a database or starts an engine, which takes long on a busy machine
 */
export function nearAndFar(
  tests: readonly Matching[],
  startsMuch: (path: string) => boolean,
): { readonly near: readonly Matching[]; readonly far: readonly Matching[] } {
  let left = nearMs
  const near = tests.filter(({ path, ms }) => {
    if (ms > left || startsMuch(path)) return false
    left -= ms
    return true
  })
  return { near, far: tests.filter((one) => !near.includes(one)) }
}
